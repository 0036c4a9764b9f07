# Exif headers of JPEG images: plain make.
program=jhead
arguments='-v @@'
seeds='tests/*.jpg tests/normal-digicams/*.jpg tests/strange-jpegs/*.jpg'
