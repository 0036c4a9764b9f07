# Audio files of many formats: CMake.
program=out/sndfile-info
system=cmake
configure='-DENABLE_EXTERNAL_LIBS=OFF -DENABLE_MPEG=OFF -DBUILD_TESTING=OFF -DBUILD_EXAMPLES=OFF'
make_seeds() {
    printf 'RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x08\0\0\0abcdefgh' >"$1/a.wav"
    printf 'FORM\0\0\0\x36AIFFCOMM\0\0\0\x12\0\x01\0\0\0\x04\0\x10\x40\x0b\xfa\0\0\0\0\0\0\0SSND\0\0\0\x10\0\0\0\0\0\0\0\0abcdefgh' >"$1/a.aiff"
    printf '.snd\0\0\0\x18\0\0\0\x08\0\0\0\x03\0\0\x1f\x40\0\0\0\x01abcdefgh' >"$1/a.au"
}
