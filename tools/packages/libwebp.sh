# WebP images: autotools.
program=examples/dwebp
arguments='@@ -pam -o -'
seeds='examples/test.webp'
configure='--disable-png --disable-jpeg --disable-tiff --disable-gif --disable-gl --disable-sdl --disable-wic --disable-threading'
