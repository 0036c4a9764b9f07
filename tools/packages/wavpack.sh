# Compressed audio: autotools.
program=cli/wvunpack
arguments='-q -vv @@'
configure='--disable-asm --enable-legacy'
make_seeds() {
    { printf 'RIFF\x64\x01\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0\x40\x1f\0\0\0\x7d\0\0\x04\0\x10\0data\x40\x01\0\0'; head -c 320 "$HERE/README.md"; } >"$HERE/tone.wav"
    cli/wavpack -q -y -m "$HERE/tone.wav" -o "$1/lossless.wv"
    cli/wavpack -q -y -b4 "$HERE/tone.wav" -o "$1/hybrid.wv"
}
