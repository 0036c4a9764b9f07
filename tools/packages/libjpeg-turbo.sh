# JPEG images: CMake.
program=out/djpeg-static
seeds='testimages/*.jpg'
configure='-DWITH_SIMD=0 -DENABLE_SHARED=0'
targets=djpeg-static
