//! The driver as `CC` and `CXX` of build systems. A test whose tool is not installed
//! prints SKIPPED.

mod common;
use common::*;
use std::process::Command;

/// Runs a tool with the driver as compiler. False if the tool is not installed.
#[track_caller]
fn run(d: &Dir, tool: &str, args: &str) -> bool {
    let mut command = Command::new(tool);
    if command.arg("--version").output().is_err() {
        eprintln!("SKIPPED: {tool} is not installed");
        return false;
    }
    let mut command = Command::new(tool);
    command.env("CC", d.join("pleach-cc")).env("CXX", d.join("pleach-c++"));
    d.run(&mut command, args, "").ok();
    true
}

fn with_compilers(files: &[(&str, &str)]) -> Dir {
    let d = dir(files);
    compilers(&d);
    d
}

const PART: &str = "int part_N(int x) { if (x == N) return N; return 0; }\n";

#[test]
fn make_builds_in_parallel() {
    let makefile = "OBJS = $(patsubst %.c,%.o,$(wildcard part*.c))\n\
        prog: main.o libparts.a\n\t$(CC) $(LDFLAGS) main.o -L. -lparts -o $@\n\
        libparts.a: $(OBJS)\n\t$(AR) rcs $@ $^\n\
        %.o: %.c\n\t$(CC) $(CFLAGS) -MMD -c $< -o $@\n\
        clean:\n\trm -f *.o *.a prog\n-include *.d\n";
    let d = with_compilers(&[("Makefile", makefile)]);
    let mut main = String::from("#include <stdio.h>\n");
    let mut calls = String::new();
    for n in 0..40 {
        d.write(&format!("part{n}.c"), PART.replace('N', &n.to_string()));
        main.push_str(&format!("int part_{n}(int);\n"));
        calls.push_str(&format!("s += part_{n}({n}); "));
    }
    d.write(
        "main.c",
        format!("{main}int main(void) {{ int s = 0; {calls} printf(\"%d\\n\", s); return 0; }}\n"),
    );
    run(&d, "make", "-e -j8 CFLAGS=-O2");
    assert_eq!(d.run_both("prog", "", &[]).stdout, "780\n");
}

/// Runs the kinds of tests that autoconf runs on a compiler.
#[test]
fn configure_finds_what_plain_clang_has() {
    let script = r#"
check() { printf '%s ' "$1"; shift; if "$@" >out.log 2>err.log && test ! -s err.log; then echo yes; else echo no; fi; }
src() { printf '%s\n' "$1" > conftest.c; }
src 'int main(void) { return 0; }'
check works $CC -o conftest conftest.c
check runs ./conftest
check object $CC -c conftest.c
src 'char strlcpy_missing_function(void); int main(void) { return strlcpy_missing_function(); }'
check nofunc $CC -o conftest conftest.c
src 'char printf(); int main(void) { return printf(); }'
check func $CC -w -o conftest conftest.c
src '#include <no/such/header.h>'
check noheader $CC -c conftest.c
check nocpp $CC -E conftest.c
src '#include <stdio.h>'
check header $CC -c conftest.c
src 'char b[sizeof(long) == 8 ? 1 : -1]; int main(void) { return 0; }'
check sizeof $CC -c conftest.c
src 'char b[sizeof(long) == 4 ? 1 : -1]; int main(void) { return 0; }'
check nosizeof $CC -c conftest.c
src '#include <math.h>
int main(int c, char **v) { return (int)sin(c); }'
check libm $CC -o conftest conftest.c -lm
check nolib $CC -o conftest conftest.c -lno_such_library
src 'int main(void) { return 0; }'
for flag in -fPIC -fvisibility=hidden -Wall -Wno-such -fstack-clash-protection -fno-such -march=native -mno-such \
  -Wl,--as-needed -Wl,-z,relro -Wl,--no-such-option -pthread -std=gnu11 -std=c89 -fopenmp -pipe -rdynamic -static; do
  check "c$flag" $CC -Werror $flag -c conftest.c
  check "l$flag" $CC -Werror $flag conftest.c -o conftest
done
src 'int x; int f(void) { return x; }'
check shared $CC -shared -fPIC conftest.c -o libconftest.so
src '__thread int t; _Static_assert(1, "x"); int main(void) { return __builtin_expect(t, 0); }'
check tls $CC -o conftest conftest.c
src 'int main(void) { __asm__ volatile ("nop"); return 0; }'
check asm $CC -c conftest.c
src 'extern int f(void) __attribute__((alias("g"))); int g(void) { return 0; } int main(void) { return f(); }'
check alias $CC -Werror -o conftest conftest.c
src 'static void *r(void) { return 0; } void *i(void) __attribute__((ifunc("r"))); int main(void) { return 0; }'
check ifunc $CC -Werror -o conftest conftest.c
check null $CC -o /dev/null conftest.c
"#;
    let d = with_compilers(&[("probe.sh", script)]);
    let ask =
        |cc: &std::ffi::OsStr| d.run(Command::new("sh").env("CC", cc), "probe.sh", "").ok().stdout;
    let ours = ask(d.join("pleach-cc").as_os_str());
    assert_eq!(ours, ask(llvm("clang").as_os_str()));
    assert!(ours.contains("works yes\nruns yes\n") && ours.contains("nofunc no\n"), "{ours}");
}

#[test]
fn cmake_builds_a_project() {
    let d = with_compilers(&[
        (
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.10)\nproject(p C CXX)\n\
             include(CheckCCompilerFlag)\ninclude(CheckFunctionExists)\ninclude(CheckTypeSize)\n\
             check_c_compiler_flag(-Wall HAVE_WALL)\ncheck_c_compiler_flag(-fno-such-flag HAVE_NONSENSE)\n\
             check_function_exists(strtol HAVE_STRTOL)\ncheck_type_size(long LONG)\n\
             if(NOT HAVE_WALL OR HAVE_NONSENSE OR NOT HAVE_STRTOL OR NOT LONG EQUAL 8 OR\n\
             NOT CMAKE_C_COMPILER_ID STREQUAL Clang OR NOT CMAKE_SIZEOF_VOID_P EQUAL 8)\n\
             message(FATAL_ERROR \"${CMAKE_C_COMPILER_ID} ${LONG}\")\nendif()\n\
             find_package(Threads REQUIRED)\n\
             add_library(st STATIC st.c)\nadd_library(sh SHARED sh.cc)\nadd_library(ob OBJECT ob.c)\n\
             add_executable(prog main.cc $<TARGET_OBJECTS:ob>)\ntarget_link_libraries(prog st sh Threads::Threads)\n\
             set_target_properties(prog PROPERTIES COMPILE_FLAGS -Werror)\nadd_custom_target(extra)\n",
        ),
        ("st.c", "int st(int x) { return x > 0 ? 10 : 20; }\n"),
        ("ob.c", "int ob(int x) { return x > 0 ? 1 : 2; }\n"),
        (
            "sh.cc",
            "#include <string>\nint sh(const std::string &s) { return s.empty() ? 100 : 200; }\n",
        ),
        (
            "main.cc",
            "#include <string>\nextern \"C\" int st(int); extern \"C\" int ob(int); int sh(const std::string &);\n\
             int main(int argc, char **) { return st(argc) + ob(argc) + sh(\"x\") - 200; }\n",
        ),
    ]);
    let generator = if Command::new("ninja").arg("--version").output().is_ok() {
        "-GNinja"
    } else {
        "-GUnix\u{20}Makefiles"
    };
    for kind in ["Release", "Debug"] {
        if !run(&d, "cmake", &format!("-S . -B {kind} -DCMAKE_BUILD_TYPE={kind} {generator}")) {
            return;
        }
        run(&d, "cmake", &format!("--build {kind}"));
        assert_eq!(
            d.run_both(&format!("{kind}/prog"), "", &[&format!("{kind}/libsh.so")]).status,
            11
        );
    }
}

#[test]
fn meson_builds_a_project() {
    let d = with_compilers(&[
        (
            "meson.build",
            "project('p', 'c', 'cpp', default_options: ['werror=true', 'warning_level=2', 'b_staticpic=true'])\n\
             cc = meson.get_compiler('c')\nassert(cc.get_id() == 'clang')\nassert(cc.has_function('strtol'))\n\
             assert(cc.sizeof('long') == 8)\nassert(not cc.has_argument('-fno-such-flag'))\n\
             l = static_library('l', 'l.c')\ns = shared_library('s', 's.cpp')\n\
             executable('prog', 'main.c', link_with: [l, s])\n",
        ),
        ("l.c", "int l(int x);\nint l(int x) { return x > 0 ? 4 : 5; }\n"),
        ("s.cpp", "extern \"C\" int s(int x);\nint s(int x) { return x > 0 ? 30 : 5; }\n"),
        (
            "main.c",
            "int l(int); int s(int);\nint main(int argc, char **argv) { (void)argv; return l(argc) + s(argc); }\n",
        ),
    ]);
    if run(&d, "meson", "setup out") {
        run(&d, "meson", "compile -C out");
        assert_eq!(d.run_both("out/prog", "", &["out/libs.so"]).status, 34);
    }
}

#[test]
fn autotools_and_libtool_build_a_project() {
    let d = with_compilers(&[
        (
            "configure.ac",
            "AC_INIT([p],[1.0])\nAM_INIT_AUTOMAKE([foreign subdir-objects])\nAC_CONFIG_MACRO_DIRS([m4])\nAM_PROG_AR\n\
             LT_INIT\nAC_PROG_CC\nAC_PROG_CXX\nAC_CHECK_FUNCS([strtol no_such_function])\nAC_CHECK_HEADERS([stdio.h none.h])\n\
             AC_CONFIG_HEADERS([config.h])\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
        ),
        (
            "Makefile.am",
            "ACLOCAL_AMFLAGS = -I m4\nlib_LTLIBRARIES = liblt.la\nliblt_la_SOURCES = lt.c more.cc\nnoinst_LTLIBRARIES = libin.la\n\
             libin_la_SOURCES = in.c\nliblt_la_LIBADD = libin.la\nbin_PROGRAMS = prog\nprog_SOURCES = main.c\nprog_LDADD = liblt.la\n",
        ),
        (
            "lt.c",
            "int in(int); int more(int); int lt(int x) { return x > 0 ? in(x) + more(x) : 0; }\n",
        ),
        ("in.c", "int in(int x) { return x > 0 ? 50 : 0; }\n"),
        (
            "more.cc",
            "template <class T> T pick(T x) { return x > 0 ? 3 : x; }\nextern \"C\" int more(int x) { return pick(x); }\n",
        ),
        (
            "main.c",
            "#include \"config.h\"\n#if !defined HAVE_STRTOL || defined HAVE_NO_SUCH_FUNCTION || defined HAVE_NONE_H\n\
            #error probes\n#endif\nint lt(int); int main(int argc, char **argv) { (void)argv; return lt(argc); }\n",
        ),
    ]);
    if !run(&d, "libtoolize", "--copy") || !run(&d, "autoreconf", "-fi") {
        return;
    }
    for (options, twins) in
        [("--disable-static", vec![".libs/liblt.so.0"]), ("--disable-shared", vec![])]
    {
        let _ = Command::new("make").arg("distclean").current_dir(d.path()).output();
        let mut configure = Command::new("sh");
        configure.env("CC", d.join("pleach-cc")).env("CXX", d.join("pleach-c++")).arg("configure");
        d.run(&mut configure, options, "").ok();
        run(&d, "make", "-j4");
        let prog = if twins.is_empty() { "prog" } else { ".libs/prog" };
        // The program finds the library through LD_LIBRARY_PATH.
        let image = d.symbolic(prog).expect("a symbolic half");
        assert!(image.starts_with(b"\x7fELF"));
        let done =
            d.run(Command::new(d.join("prog")).env("LD_LIBRARY_PATH", d.join(".libs")), "", "");
        assert_eq!(done.status, 53, "{}", done.stderr);
        for twin in twins {
            assert!(d.symbolic(twin).is_some(), "{twin}");
        }
    }
}
