// The parts of libstdc++ through which input flows, for the symbolic half.
//
// libstdc++.so has no instrumentation. It contains most of std::string and of the
// input streams, because the headers declare these templates `extern`. But an
// executable can replace any of its symbols, including those that the library's
// own calls and virtual tables use. So this file instantiates the templates
// again, from the headers on this machine. It is compiled with instrumentation
// and linked into the symbolic executable, where it takes precedence over the
// library. Even objects that the library constructs, such as the buffer of
// std::cin, then use this code.
//
// The fast half is not linked with this file.
//
// The headers only declare the functions below the instantiations. Here they
// follow the standard and the library's generic versions, character by character.
//
// Output of numbers is left out on purpose: programs rarely decide anything on
// printed numbers. Characters that are written to a string stream keep their
// labels.

#include <cerrno>
#include <cxxabi.h>
#include <ext/stdio_sync_filebuf.h>
#include <fstream>
#include <istream>
#include <limits>
#include <locale>
#include <sstream>
#include <streambuf>
#include <string>
#include <unistd.h>

namespace std {

template class basic_string<char>;
template class basic_string<wchar_t>;
template class basic_streambuf<char>;
template class basic_filebuf<char>;
template class basic_stringbuf<char>;
template class basic_istream<char>;
template class basic_ifstream<char>;
template class basic_fstream<char>;
template class basic_istringstream<char>;
template class basic_ostringstream<char>;
template class basic_stringstream<char>;
template class num_get<char>;
template istream &ws(istream &);
template istream &operator>>(istream &, char &);
template istream &operator>>(istream &, signed char &);
template istream &operator>>(istream &, unsigned char &);
template istream &istream::_M_extract(bool &);
template istream &istream::_M_extract(unsigned short &);
template istream &istream::_M_extract(unsigned int &);
template istream &istream::_M_extract(long &);
template istream &istream::_M_extract(unsigned long &);
template istream &istream::_M_extract(long long &);
template istream &istream::_M_extract(unsigned long long &);
template istream &istream::_M_extract(float &);
template istream &istream::_M_extract(double &);
template istream &istream::_M_extract(long double &);
template istream &istream::_M_extract(void *&);
template ostream &ostream::put(char);

} // namespace std

template class __gnu_cxx::stdio_sync_filebuf<char>;

namespace {

using traits = std::char_traits<char>;
using state = std::ios_base::iostate;

std::streamsize longest(const std::string &text) {
    return static_cast<std::streamsize>(text.max_size());
}

bool is_eof(traits::int_type c) {
    return traits::eq_int_type(c, traits::eof());
}

// Runs the work of an input function. An exception sets the stream's state; the
// stream throws it again if the program asked for that.
template <class Work> void reading(std::istream &in, Work work) {
    try {
        work();
    } catch (__cxxabiv1::__forced_unwind &) {
        in._M_setstate(std::ios_base::badbit);
        throw;
    } catch (...) {
        in._M_setstate(std::ios_base::badbit);
    }
}

// The destination of characters: a string, or memory that is large enough.
struct Text {
    std::string *string;
    char *memory;

    void put(char c) {
        if (string)
            string->push_back(c);
        else
            *memory++ = c;
    }
};

// Reads characters up to a space or the end, at most `limit` of them.
state take_word(std::istream &in, std::streamsize limit, Text &to, std::streamsize &count) {
    const auto &kinds = std::use_facet<std::ctype<char>>(in.getloc());
    traits::int_type c = in.rdbuf()->sgetc();
    while (count < limit && !is_eof(c) &&
           !kinds.is(std::ctype_base::space, traits::to_char_type(c))) {
        to.put(traits::to_char_type(c));
        ++count;
        c = in.rdbuf()->snextc();
    }
    return count < limit && is_eof(c) ? std::ios_base::eofbit : std::ios_base::goodbit;
}

// Reads characters up to the delimiter or the end, at most `limit` of them. The
// delimiter is read and counted, but is not part of the text.
state take_line(std::istream &in, std::streamsize limit, char delimiter, Text &to,
                std::streamsize &count) {
    const auto stop = traits::to_int_type(delimiter);
    traits::int_type c = in.rdbuf()->sgetc();
    while (count < limit && !is_eof(c) && !traits::eq_int_type(c, stop)) {
        to.put(traits::to_char_type(c));
        ++count;
        c = in.rdbuf()->snextc();
    }
    if (is_eof(c))
        return std::ios_base::eofbit;
    if (!traits::eq_int_type(c, stop))
        return std::ios_base::failbit;
    ++count;
    in.rdbuf()->sbumpc();
    return std::ios_base::goodbit;
}

// Skips characters up to `stop` or the end, at most `n` of them. True if it found
// `stop` or the end. The largest `n` means no limit.
bool skip(std::istream &in, std::streamsize n, traits::int_type stop, std::streamsize &count,
          traits::int_type &c) {
    const bool is_unlimited = n == std::numeric_limits<std::streamsize>::max();
    c = in.rdbuf()->sgetc();
    while (count < n && !is_eof(c) && !traits::eq_int_type(c, stop)) {
        ++count;
        c = in.rdbuf()->snextc();
    }
    return count < n || is_unlimited;
}

} // namespace

namespace std {

template <> istream &operator>>(istream &in, string &text) {
    state error = ios_base::goodbit;
    streamsize count = 0;
    if (istream::sentry(in, false)) {
        reading(in, [&] {
            text.erase();
            const streamsize width = in.width();
            Text to{&text, nullptr};
            error |= take_word(in, width > 0 ? width : longest(text), to, count);
            in.width(0);
        });
    }
    if (count == 0)
        error |= ios_base::failbit;
    if (error)
        in.setstate(error);
    return in;
}

void __istream_extract(istream &in, char *memory, streamsize room) {
    state error = ios_base::goodbit;
    streamsize count = 0;
    if (istream::sentry(in, false)) {
        reading(in, [&] {
            const streamsize width = in.width();
            if (0 < width && width < room)
                room = width;
            Text to{nullptr, memory};
            error |= take_word(in, room - 1, to, count);
            *to.memory = char();
            in.width(0);
        });
    }
    if (count == 0)
        error |= ios_base::failbit;
    if (error)
        in.setstate(error);
}

template <> istream &getline(istream &in, string &text, char delimiter) {
    state error = ios_base::goodbit;
    streamsize count = 0;
    if (istream::sentry(in, true)) {
        reading(in, [&] {
            text.erase();
            Text to{&text, nullptr};
            error |= take_line(in, longest(text), delimiter, to, count);
        });
    }
    if (count == 0)
        error |= ios_base::failbit;
    if (error)
        in.setstate(error);
    return in;
}

template <> istream &istream::getline(char *memory, streamsize room, char delimiter) {
    state error = ios_base::goodbit;
    Text to{nullptr, memory};
    _M_gcount = 0;
    if (sentry(*this, true)) {
        reading(*this, [&] {
            error |= take_line(*this, room - 1, delimiter, to, _M_gcount);
        });
    }
    if (room > 0)
        *to.memory = char();
    if (_M_gcount == 0)
        error |= ios_base::failbit;
    if (error)
        setstate(error);
    return *this;
}

template <> istream &istream::ignore(streamsize n) {
    // Skipping one character must not read the next one, which may block.
    return n == 1 ? ignore() : ignore(n, traits::eof());
}

template <> istream &istream::ignore(streamsize n, int_type delimiter) {
    _M_gcount = 0;
    if (!sentry(*this, true) || n <= 0)
        return *this;
    state error = ios_base::goodbit;
    reading(*this, [&] {
        int_type c;
        if (!skip(*this, n, delimiter, _M_gcount, c))
            return;
        if (is_eof(c)) {
            error |= ios_base::eofbit;
        } else {
            ++_M_gcount;
            rdbuf()->sbumpc();
        }
    });
    if (error)
        setstate(error);
    return *this;
}

template <> streamsize __copy_streambufs_eof(streambuf *from, streambuf *to, bool &ended) {
    streamsize n = 0;
    ended = true;
    for (auto c = from->sgetc(); !is_eof(c); c = from->snextc()) {
        if (is_eof(to->sputc(traits::to_char_type(c)))) {
            ended = false;
            break;
        }
        ++n;
    }
    return n;
}

streamsize __basic_file<char>::xsgetn(char *to, streamsize n) {
    streamsize got;
    do
        got = read(fd(), to, static_cast<size_t>(n));
    while (got == -1 && errno == EINTR);
    return got;
}

streamoff __basic_file<char>::seekoff(streamoff by, ios_base::seekdir from) noexcept {
    return lseek64(fd(), by, static_cast<int>(from));
}

char ctype<char>::do_tolower(char c) const {
    return static_cast<char>(_M_tolower[static_cast<unsigned char>(c)]);
}

const char *ctype<char>::do_tolower(char *at, const char *end) const {
    for (; at < end; ++at)
        *at = static_cast<char>(_M_tolower[static_cast<unsigned char>(*at)]);
    return end;
}

char ctype<char>::do_toupper(char c) const {
    return static_cast<char>(_M_toupper[static_cast<unsigned char>(c)]);
}

const char *ctype<char>::do_toupper(char *at, const char *end) const {
    for (; at < end; ++at)
        *at = static_cast<char>(_M_toupper[static_cast<unsigned char>(*at)]);
    return end;
}

// The hash of strings: MurmurHash64A by Austin Appleby.
size_t _Hash_bytes(const void *data, size_t n, size_t seed) {
    constexpr size_t factor = 0xc6a4a7935bd1e995;
    const auto mix = [](size_t v) { return v ^ v >> 47; };
    const char *at = static_cast<const char *>(data);
    size_t hash = seed ^ n * factor;
    for (; n >= 8; n -= 8, at += 8) {
        size_t part;
        __builtin_memcpy(&part, at, 8);
        hash = (hash ^ mix(part * factor) * factor) * factor;
    }
    if (n != 0) {
        size_t part = 0;
        for (size_t i = 0; i < n; ++i)
            part |= static_cast<size_t>(static_cast<unsigned char>(at[i])) << 8 * i;
        hash = (hash ^ part) * factor;
    }
    return mix(mix(hash) * factor);
}

} // namespace std
