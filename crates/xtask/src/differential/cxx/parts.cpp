// Parts of random C++ programs. Each part is a namespace with a function `run`. In these:
//   @E(a,b)  a random unsigned expression of these values     @C(a,b)  a random condition
//   @N       a number from 2 to 6                             @K       a number below 256
//   @T       an unsigned integer type                         @S       a signed integer type
//   @O       one of + - * ^ | &                               @R       one of < > <= >= == !=
// A number after T, S or O names a choice: every @T1 of a part is the same type.
// A part must have no undefined behaviour, whatever is chosen and whatever the input is.

//// virtual
struct Base {
    u64 seed;
    explicit Base(u64 s) : seed(s) { mix(s); }
    virtual ~Base() { mix(seed ^ @K); }
    virtual u64 value(u64 x) const { return @E(x,seed); }
    virtual const char *name() const = 0;
};
struct First : Base {
    using Base::Base;
    u64 value(u64 x) const override { return Base::value(x) @O @E(seed,x); }
    const char *name() const override { return "first"; }
};
struct Second : First {
    @T1 extra;
    Second(u64 s, u64 t) : First(s), extra(@T1(t)) {}
    u64 value(u64 x) const override { return @C(x,extra) ? First::value(x) : u64(extra) @O x; }
    const char *name() const override { return extra > @K ? "second" : "other"; }
};
struct Third final : Base {
    std::string text;
    explicit Third(u64 s) : Base(s), text(s % @N + 1, char('a' + s % 26)) {}
    ~Third() override { mix(text.size()); }
    const char *name() const override { return text.c_str(); }
};
std::unique_ptr<Base> make(Input &in) {
    u64 x = in.next();
    switch (x % 4) {
    case 0: return std::make_unique<First>(x);
    case 1: return std::make_unique<Second>(x, in.next());
    default: return std::make_unique<Third>(@E(x));
    }
}
void run(Input &in) {
    std::vector<std::unique_ptr<Base>> all;
    for (int i = 0; i < @N + 1; i++) all.push_back(make(in));
    for (const auto &one : all) {
        mix(one->value(in.next()));
        mix(std::string(one->name()));
        if (auto *second = dynamic_cast<const Second *>(one.get())) mix(second->extra);
        if (typeid(*one) == typeid(Third)) mix(@K);
    }
    if (@C(all.size(),sum)) all.erase(all.begin());
}

//// templates
template <class T, std::size_t N> struct Ring {
    std::array<T, N> cells{};
    std::size_t head = 0, count = 0;
    bool push(T value) {
        if (count == N) return false;
        cells[(head + count++) % N] = value;
        return true;
    }
    std::optional<T> pop() {
        if (count == 0) return std::nullopt;
        T value = cells[head];
        head = (head + 1) % N;
        count--;
        return value;
    }
};
template <class T> struct Name { static constexpr u64 id = sizeof(T); };
template <> struct Name<@T1> { static constexpr u64 id = @K; };
template <class T> struct Name<T *> { static constexpr u64 id = Name<T>::id * @N; };
template <class... Ts> u64 fold(Ts... values) { return (u64(values) @O1 ... @O1 u64(@K)); }
template <class T> u64 describe(const T &value) {
    if constexpr (std::is_integral_v<T>) return u64(value) @O @K;
    else if constexpr (std::is_pointer_v<T>) return Name<T>::id;
    else return value.size();
}
template <int N> u64 power(u64 x) {
    if constexpr (N == 0) return 1;
    else return x * power<N - 1>(x @O @K);
}
void run(Input &in) {
    Ring<@T1, @N> ring;
    for (int i = 0; i < 12; i++) {
        u64 x = in.next();
        if (@C(x)) mix(ring.push(@T1(x)));
        else if (auto value = ring.pop()) mix(*value);
        else mix(@K);
    }
    u64 a = in.next(), b = in.next();
    mix(fold(a, b, @E(a,b)));
    mix(fold(std::uint8_t(a), b));
    mix(describe(std::string(a % 9, 'x')) + describe(b) + describe(&a));
    mix(power<@N>(a) ^ Name<@T2 *>::id);
}

//// exceptions
struct Failure : std::runtime_error {
    u64 code;
    Failure(u64 c, const char *what) : std::runtime_error(what), code(c) {}
};
struct Fatal : Failure {
    explicit Fatal(u64 c) : Failure(c, "fatal") {}
};
struct Guard {
    u64 id;
    explicit Guard(u64 i) : id(i) { mix(id); }
    ~Guard() { mix(id * 3 + u64(std::uncaught_exceptions())); }
    Guard(const Guard &) = delete;
};
u64 risky(u64 x, u64 depth) {
    Guard guard(depth);
    if (x % @N == 0) throw Fatal(x);
    if (@C(x,depth)) throw Failure(@E(x,depth), "failure");
    if (x > 250) throw int(x);
    if (x > 240) throw std::string("text");
    if (depth > 0) return risky(@E(x,depth) & 255, depth - 1) @O x;
    return std::vector<u64>{1, 2, 3}.at(x % 5);
}
u64 catcher(u64 x) noexcept {
    try {
        try {
            return risky(x, @N);
        } catch (const Fatal &fatal) {
            mix(fatal.code);
            if (@C(x)) throw;
            throw Failure(fatal.code @O @K, "changed");
        } catch (int code) {
            return u64(code) + @K;
        }
    } catch (const Failure &failure) {
        mix(std::string(failure.what()));
        return failure.code;
    } catch (const std::out_of_range &) {
        return @K;
    } catch (const std::exception &other) {
        return std::string(other.what()).size();
    } catch (...) {
        return 4711;
    }
}
void run(Input &in) {
    for (int i = 0; i < @N + 2; i++) mix(catcher(in.next()));
}

//// lambdas
std::function<u64(u64)> compose(std::function<u64(u64)> f, std::function<u64(u64)> g) {
    return [f = std::move(f), g](u64 x) { return g(f(x)) @O x; };
}
void run(Input &in) {
    u64 a = in.next(), calls = 0;
    auto twice = [](auto f, auto x) { return f(f(x)); };
    auto add = [a, &calls](u64 x) {
        calls++;
        return @E(a,x);
    };
    auto counter = [n = a % @N]() mutable { return n++; };
    mix(twice(add, in.next()));
    std::vector<std::function<u64(u64)>> table = {add, [](u64 x) { return @E(x); }};
    table.push_back(compose(table[0], table[1]));
    table.push_back([&table, &in](u64 x) { return table[x % 3](in.next()); });
    for (int i = 0; i < @N; i++) mix(table[in.next() % table.size()](counter()));
    std::function<u64(u64)> down = [&](u64 n) -> u64 { return n < 2 ? n : down(n - 1) + down(n - 2); };
    mix(down(a % 9));
    u64 (*plain)(u64) = [](u64 x) { return x @O @K; };
    mix(plain(calls));
}

//// containers
void run(Input &in) {
    std::map<std::string, @T1> ordered;
    std::unordered_map<u64, u64> hashed;
    std::set<@S1> members;
    std::deque<u64> queue;
    std::list<u64> chain;
    std::priority_queue<u64> heap;
    for (int i = 0; i < 14; i++) {
        u64 x = in.next();
        switch (in.next() % 8) {
        case 0: ordered[std::string(1, char('a' + x % 5))] += @T1(x); break;
        case 1: hashed[x % @N]++; break;
        case 2: members.insert(@S1(x)); break;
        case 3: queue.push_front(x); break;
        case 4: if (!queue.empty()) { mix(queue.back()); queue.pop_back(); } break;
        case 5: chain.insert(chain.begin(), x); chain.reverse(); break;
        case 6: heap.push(@E(x)); break;
        default: ordered.erase("c"); members.erase(@S1(x)); break;
        }
    }
    for (const auto &[key, value] : ordered) { mix(key); mix(value); }
    for (u64 key = 0; key < 7; key++) if (auto at = hashed.find(key); at != hashed.end()) mix(at->second);
    for (auto member : members) mix(u64(member));
    for (u64 x : queue) mix(x);
    chain.remove_if([](u64 x) { return @C(x); });
    chain.sort();
    for (u64 x : chain) mix(x);
    while (!heap.empty()) { mix(heap.top()); heap.pop(); }
    auto low = members.lower_bound(@S1(@K));
    mix(low == members.end() ? @K : u64(*low));
}

//// strings
void run(Input &in) {
    std::string text;
    for (int i = 0; i < 16; i++) {
        char c = char(in.next());
        text += std::isalnum((unsigned char)c) ? c : "0 ,=x"[(unsigned char)c % 5];
    }
    mix(text);
    mix(text.find("x"));
    mix(text.find_first_of("0123456789"));
    mix(text.rfind(','));
    std::string_view view(text);
    if (auto at = view.find('='); at != view.npos) {
        mix(std::string(view.substr(0, at)));
        view.remove_prefix(at + 1);
    }
    mix(std::string(view));
    try {
        mix(u64(std::stoi(std::string(view))));
    } catch (const std::invalid_argument &) {
        mix(@K);
    } catch (const std::out_of_range &) {
        mix(@K);
    }
    std::string other = std::to_string(text.size() * @K) + text.substr(@N);
    other.replace(1, @N, "-");
    other.insert(other.size() / 2, @N, '+');
    if (text @R other) std::swap(text, other);
    mix(text);
    mix(u64(text.compare(0, 3, other, 0, 3) < 0));
    std::reverse(other.begin(), other.end());
    mix(other);
    mix(text.starts_with("0") || other.ends_with("x"));
}

//// operators
struct Modular {
    static constexpr u64 prime = 251;
    u64 v;
    constexpr Modular(u64 x = 0) : v(x % prime) {}
    friend Modular operator+(Modular a, Modular b) { return a.v + b.v; }
    friend Modular operator-(Modular a, Modular b) { return a.v + prime - b.v; }
    friend Modular operator*(Modular a, Modular b) { return a.v * b.v; }
    friend auto operator<=>(const Modular &, const Modular &) = default;
    Modular &operator+=(Modular b) { return *this = *this + b; }
    Modular operator++(int) { auto old = *this; *this += 1; return old; }
    explicit operator bool() const { return v > @K; }
    u64 operator()(u64 x) const { return @E(v,x); }
};
struct Matrix {
    std::array<Modular, 9> cells{};
    Modular &operator[](std::size_t i) { return cells[i % 9]; }
    const Modular &operator[](std::size_t i) const { return cells[i % 9]; }
    friend Matrix operator*(const Matrix &a, const Matrix &b) {
        Matrix c;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 3; k++) c[3 * i + j] += a[3 * i + k] * b[3 * k + j];
        return c;
    }
    auto begin() const { return cells.begin(); }
    auto end() const { return cells.end(); }
    friend std::ostream &operator<<(std::ostream &out, const Matrix &m) {
        for (auto cell : m) out << cell.v << ',';
        return out;
    }
};
constexpr Modular operator""_m(unsigned long long x) { return Modular(x); }
void run(Input &in) {
    Matrix a, b;
    for (int i = 0; i < 9; i++) { a[i] = in.next(); b[i] = u64(i) * @K; }
    Matrix c = a * b;
    if (c[@N] @R a[@N]) c = c * c;
    std::ostringstream out;
    out << c;
    mix(out.str());
    Modular x = 12_m, y(in.next());
    if (y) x += y++;
    mix(x(y.v) + (x - y).v);
    for (auto cell : b) mix(cell.v);
}

//// constant
constexpr u64 step(u64 x) { return (x >> 1) ^ (x & 1 ? 0x@K00000fu : @Ku); }
template <std::size_t N> constexpr std::array<u64, N> table() {
    std::array<u64, N> all{};
    for (std::size_t i = 0; i < N; i++) {
        all[i] = i * @K;
        for (int k = 0; k < @N; k++) all[i] = step(all[i]);
    }
    return all;
}
constexpr auto numbers = table<64>();
static_assert(numbers[0] == table<1>()[0]);
consteval u64 fixed() { return numbers[@N] @O numbers[@N]; }
enum class Colour : @T1 { red = 1, green = @N * 8, blue = @N * 8 + 1 };
constexpr const char *name(Colour colour) {
    switch (colour) {
    case Colour::red: return "red";
    case Colour::green: return "green";
    case Colour::blue: return "blue";
    }
    return "none";
}
void run(Input &in) {
    u64 crc = fixed();
    for (int i = 0; i < 8; i++) crc = numbers[(crc ^ in.next()) % 64] ^ (crc >> 6);
    mix(crc);
    for (int i = 0; i < 4; i++) mix(std::string(name(Colour(in.next() & 63))));
}

//// streams
struct Point {
    int x = 0, y = 0;
    friend std::istream &operator>>(std::istream &from, Point &p) {
        char c = 0;
        if (from >> p.x >> c && c != ',') from.setstate(std::ios::failbit);
        return from >> p.y;
    }
};
void run(Input &in) {
    std::string text;
    for (int i = 0; i < 12; i++) text += "0123456789,- \nx"[in.next() % 15];
    std::istringstream from(text);
    Point p;
    int points = 0;
    while (from >> p) {
        mix(u64(p.x) @O u64(p.y));
        points++;
    }
    mix(u64(points) + (from.eof() ? @K : 0) + (from.bad() ? 1 : 0));
    from.clear();
    std::string word;
    if (from >> word) mix(word);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line, @K % 2 ? ',' : '\n');) {
        std::istringstream fields(line);
        long number = 0;
        mix(fields >> number ? u64(number) : @K);
    }
    std::ostringstream out;
    out << std::hex << std::setw(6) << std::setfill('*') << in.next() << std::boolalpha
        << (points > 1) << ' ' << std::dec << std::showpos << points << "/" << u64(@K);
    mix(out.str());
}

//// variants
struct Leaf { u64 value; };
struct Node;
using Tree = std::variant<Leaf, std::unique_ptr<Node>>;
struct Node { char op; Tree left, right; };
Tree build(Input &in, int depth) {
    u64 x = in.next();
    if (depth == 0 || @C(x)) return Leaf{x};
    auto left = build(in, depth - 1), right = build(in, depth - 1);
    return std::make_unique<Node>(Node{"+*^-"[x % 4], std::move(left), std::move(right)});
}
template <class... Fs> struct overloaded : Fs... { using Fs::operator()...; };
template <class... Fs> overloaded(Fs...) -> overloaded<Fs...>;
u64 value(const Tree &tree) {
    return std::visit(overloaded{
        [](const Leaf &leaf) { return leaf.value; },
        [](const std::unique_ptr<Node> &node) {
            u64 a = value(node->left), b = value(node->right);
            switch (node->op) {
            case '+': return a + b;
            case '*': return a * b;
            case '^': return a ^ b;
            default: return @E(a,b);
            }
        }}, tree);
}
std::optional<std::pair<u64, u64>> split(u64 x) {
    if (@C(x)) return std::nullopt;
    return std::pair{x / 16, x % 16};
}
void run(Input &in) {
    mix(value(build(in, 3)));
    for (int i = 0; i < @N; i++) {
        if (auto pair = split(in.next())) {
            auto [high, low] = *pair;
            mix(@E(high,low));
        } else {
            mix(split(@K).value_or(std::pair<u64, u64>{1, 2}).second);
        }
    }
    auto [a, b, c] = std::tuple{in.next(), std::string("t"), @Ku};
    mix(a + b.size() + c);
    std::variant<u64, std::string> either = in.next();
    if (std::get<0>(either) > @K) either = std::string("text");
    mix(either.index());
    try { mix(std::get<std::string>(either)); } catch (const std::bad_variant_access &) { mix(9); }
}

//// algorithms
void run(Input &in) {
    std::vector<@T1> all;
    for (int i = 0; i < 10; i++) all.push_back(@T1(@E(in.next())));
    auto by = [](auto a, auto b) { return a % 16 != b % 16 ? a % 16 < b % 16 : a < b; };
    switch (in.next() % 4) {
    case 0: std::sort(all.begin(), all.end()); break;
    case 1: std::sort(all.begin(), all.end(), by); break;
    case 2: std::stable_sort(all.rbegin(), all.rend(), [](auto a, auto b) { return a / 8 < b / 8; }); break;
    default: std::rotate(all.begin(), all.begin() + @N, all.end()); break;
    }
    for (auto x : all) mix(x);
    mix(u64(std::accumulate(all.begin(), all.end(), u64(@K), [](u64 s, u64 x) { return s * 3 @O x; })));
    auto odd = std::partition(all.begin(), all.end(), [](auto x) { return x % 2 == 1; });
    mix(u64(odd - all.begin()));
    auto at = std::find_if(all.begin(), all.end(), [](u64 x) { return @C(x); });
    mix(at == all.end() ? @K : u64(*at));
    std::vector<u64> squares;
    std::transform(all.begin(), all.end(), std::back_inserter(squares), [](u64 x) { return x * x; });
    squares.erase(std::unique(squares.begin(), squares.end()), squares.end());
    mix(squares.size());
    mix(*std::max_element(squares.begin(), squares.end()));
    mix(u64(std::count_if(all.begin(), all.end(), [](auto x) { return x > @K; })));
    std::array<int, 4> order{0, 1, 2, 3};
    for (u64 n = in.next() % 24; n > 0; n--) std::next_permutation(order.begin(), order.end());
    for (int x : order) mix(u64(x));
    mix(std::binary_search(all.begin(), odd, @T1(1)) ? 0 : 0);
    mix(u64(std::equal(all.begin(), odd, squares.begin(), squares.end())));
}

//// inheritance
struct Animal {
    u64 legs;
    Animal(u64 n) : legs(n) {}
    virtual ~Animal() = default;
    virtual u64 speak(u64 x) { return x @O legs; }
    u64 walk(u64 x) const { return x * legs; }
};
struct Swimmer : virtual Animal {
    u64 fins = @K;
    Swimmer(u64 n) : Animal(n) {}
    u64 speak(u64 x) override { return @E(x,fins); }
    virtual u64 swim() { return fins++; }
};
struct Flyer : virtual Animal {
    u64 wings;
    Flyer(u64 n) : Animal(n), wings(n @O @K) {}
    virtual u64 fly(u64 x = @K) { return @E(x,wings); }
};
struct Duck : Swimmer, Flyer {
    Duck(u64 n) : Animal(n + 1), Swimmer(n), Flyer(n) {}
    u64 speak(u64 x) override { return Swimmer::speak(x) @O Flyer::wings; }
    u64 fly(u64 x) override { return x @O swim(); }
};
template <class Self> struct Counted {
    static inline u64 alive = 0;
    Counted() { alive++; }
    Counted(const Counted &) { alive++; }
    ~Counted() { alive--; }
    u64 twice() { return static_cast<Self *>(this)->once() * 2; }
};
struct Thing : Counted<Thing> {
    u64 x;
    explicit Thing(u64 v) : x(v) {}
    u64 once() const { return @E(x); }
};
void run(Input &in) {
    Duck duck(in.next());
    Animal &animal = duck;
    Flyer &flyer = duck;
    mix(animal.speak(in.next()) + flyer.fly() + duck.swim());
    u64 (Animal::*member)(u64) const = &Animal::walk;
    u64 (Animal::*speak)(u64) = &Animal::speak;
    u64 Animal::*legs = &Animal::legs;
    mix((animal.*member)(@K) + (animal.*speak)(@K) + animal.*legs);
    if (auto *swimmer = dynamic_cast<Swimmer *>(&flyer)) mix(swimmer->fins);
    std::vector<Thing> things;
    for (u64 n = in.next() % 6; n > 0; n--) things.emplace_back(n);
    auto copy = things;
    mix(Thing::alive);
    for (auto &thing : copy) mix(thing.twice());
}

//// ownership
struct Buffer {
    std::size_t size;
    @T1 *data;
    explicit Buffer(std::size_t n) : size(n), data(new @T1[n]()) {}
    Buffer(const Buffer &b) : Buffer(b.size) { std::copy_n(b.data, size, data); mix(1); }
    Buffer(Buffer &&b) noexcept : size(std::exchange(b.size, 0)), data(std::exchange(b.data, nullptr)) { mix(2); }
    Buffer &operator=(Buffer b) noexcept { std::swap(size, b.size); std::swap(data, b.data); return *this; }
    ~Buffer() { mix(size); delete[] data; }
    u64 total() const { u64 t = 0; for (std::size_t i = 0; i < size; i++) t = t * 7 + data[i]; return t; }
};
struct Item {
    u64 id;
    std::vector<std::shared_ptr<Item>> children;
    std::weak_ptr<Item> parent;
    ~Item() { mix(id); }
};
void run(Input &in) {
    Buffer a(@N + 3), b(in.next() % 7);
    for (std::size_t i = 0; i < a.size; i++) a.data[i] = @T1(in.next());
    Buffer c = a;
    if (@C(sum)) b = c; else b = std::move(c);
    mix(b.total() + a.total());
    std::vector<Buffer> many;
    for (u64 i = 0; i < 3; i++) many.push_back(Buffer(i + 1));
    auto root = std::make_shared<Item>();
    root->id = in.next();
    for (u64 n = in.next() % @N; n > 0; n--) {
        auto child = std::make_shared<Item>();
        child->id = n;
        child->parent = root;
        root->children.push_back(child);
    }
    std::weak_ptr<Item> watch = root->children.empty() ? root : root->children.back();
    if (@C(root->id)) root->children.clear();
    mix(u64(watch.expired()) + u64(root.use_count()));
    std::unique_ptr<u64, void (*)(u64 *)> owned(new u64(@K), [](u64 *p) { mix(*p); delete p; });
    if (auto parent = watch.lock()) mix(parent->id);
}

//// parser
struct Parser {
    const std::string &text;
    std::size_t at = 0;
    char peek() const { return at < text.size() ? text[at] : '\0'; }
    bool accept(char c) { return peek() == c ? (at++, true) : false; }
    u64 atom() {
        if (accept('(')) {
            u64 v = sum();
            if (!accept(')')) throw std::runtime_error("no )");
            return v;
        }
        if (accept('-')) return 0 - atom();
        if (peek() < '0' || peek() > '9') throw std::domain_error(std::string("bad ") + peek());
        u64 v = 0;
        while (peek() >= '0' && peek() <= '9') v = v * 10 + u64(text[at++] - '0');
        return v;
    }
    u64 product() {
        u64 v = atom();
        for (;;) {
            if (accept('*')) v *= atom();
            else if (accept('/')) { u64 d = atom(); if (d == 0) throw @K; v /= d; }
            else return v;
        }
    }
    u64 sum() {
        u64 v = product();
        for (;;) {
            if (accept('+')) v += product();
            else if (accept('-')) v -= product();
            else return v;
        }
    }
};
void run(Input &in) {
    std::string text;
    for (int i = 0; i < 9; i++) text += "0123()*/+-1("[in.next() % 12];
    Parser parser{text};
    try {
        mix(parser.sum());
        if (parser.at != text.size()) throw std::length_error("rest");
    } catch (const std::logic_error &error) {
        mix(std::string(error.what()));
    } catch (const std::runtime_error &error) {
        mix(parser.at @O @K);
    } catch (int code) {
        mix(u64(code));
    }
}
