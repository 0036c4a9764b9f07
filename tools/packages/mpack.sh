# Attachments of mail: autotools, hand-written parser.
program=munpack
# Without -f, or for a part without a name, it chooses a name that no file has yet.
arguments='-t -f -C . @@'
# Its configure script is older than the tools that its Makefile calls.
prepare() { autoreconf -fi; }
make_seeds() {
    printf 'From: a@b\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; name=t\n\nhello\n--b\nContent-Type: application/octet-stream; name=f\nContent-Transfer-Encoding: base64\n\nQUJDRA==\n--b--\n' >"$1/mail"
}
