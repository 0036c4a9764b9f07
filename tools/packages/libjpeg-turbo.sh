# JPEG images: CMake.
program=out/djpeg
seeds='testimages/*.jpg'
configure='-DWITH_SIMD=0 -DENABLE_SHARED=0'
targets='djpeg djpeg-static'
