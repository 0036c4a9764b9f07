// Formatted input from std::cin: integers and words; the parsing is inside libstdc++.
// run
// input: "12 apples\n"
// stdout: "many apples\n"
// exit: 0
// losses: unmodelled healed
// diverges: number parsing is in the library, without instrumentation
#include <iostream>
#include <string>

int main() {
    int n;
    std::string what;
    if (!(std::cin >> n >> what)) {
        std::cout << "bad\n";
        return 1;
    }
    std::cout << (n > 10 ? "many " : "few ") << what << "\n";
    return 0;
}
