# Captured packets: autotools, with libpcap built beside it.
sources='libpcap tcpdump'
program=tcpdump/tcpdump
arguments='-nn -vv -r @@'
seeds='tcpdump/tests/*.pcap'
build() {
    (cd libpcap && ./configure --disable-shared --disable-dbus --disable-rdma --without-libnl && make -j "$JOBS" libpcap.a)
    cd tcpdump
    ./configure --without-crypto --without-cap-ng
    make -j "$JOBS"
}
