# A Scheme interpreter: plain make.
program=scheme
seeds='debian/tests/*.scm'
make_seeds() { printf "(define (f x) (if (< x 2) 1 (* x (f (- x 1)))))\n(display (f 5))\n(let loop ((i 0)) (if (< i 3) (loop (+ i 1))))\n\`(a ,(+ 1 2) #\\\\x \"s\\\\n\" #(1 2))\n" >"$1/a.scm"; }
