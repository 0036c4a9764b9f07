// A lexer of a class, left by an exception at a bad character.
#include <cstdio>

namespace text {
enum class Kind : unsigned char { End, Word, Other = 200 };

class Lexer {
  public:
    Kind nextToken();
};

Kind Lexer::nextToken() {
    int c = getchar();
    if (c == EOF)
        return Kind::End;
    if (c == '!')
        throw c;
    return c >= 'a' ? Kind::Word : Kind::Other;
}
} // namespace text

int main() {
    text::Lexer lexer;
    for (;;) {
        try {
            text::Kind k = lexer.nextToken();
            if (k == text::Kind::Other)
                return 2;
            if (k == text::Kind::End)
                return 0;
        } catch (int c) {
            if (getchar() == 'x')
                return 9;
        }
    }
}
