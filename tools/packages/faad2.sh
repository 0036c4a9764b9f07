# AAC audio: autotools; the decoder of MP4 is its own.
program=frontend/faad
arguments='-w @@'
make_seeds() {
    { for i in 1 2 3; do printf '\xff\xf1\x50\x40\x01\x7f\xfc\x01\x18\x20\x07'; done; } >"$1/frames.aac"
    printf '\0\0\0\x18ftypM4A \0\0\0\0M4A mp42\0\0\0\x08moov' >"$1/empty.m4a"
}
