# Debian's source packages, for the scripts that fetch: they keep all of it under
# $SUBJECTS.

# Sources come through apt-get, from the archives this machine already uses: its
# own entries, turned into deb-src lines in a private directory, so that nothing
# of the system changes.
private_apt() {
    local apt=$SUBJECTS/apt
    export APT_CONFIG=$apt/apt.conf
    [ -e "$apt/ready" ] && return
    mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial"
    local keys=/usr/share/keyrings/debian-archive-keyring.gpg
    APT_CONFIG='' apt-get indextargets 'Created-By: Packages' 'Origin: Debian' \
        --format "deb-src [signed-by=$keys] \$(REPO_URI) \$(RELEASE) \$(COMPONENT)" |
        sort -u >"$apt/parts/sources.list"
    if [ ! -s "$apt/parts/sources.list" ]; then
        echo "apt-get knows no Debian archive here; run apt-get update first" >&2
        return 1
    fi
    cat >"$APT_CONFIG" <<EOF
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$apt/parts";
Dir::State::lists "$apt/lists";
Dir::Cache "$apt/cache";
EOF
    apt-get update
    touch "$apt/ready"
}

# Downloads a source package to the current directory, in the release's own version:
# files of some security versions are gone.
debian_source() {
    apt-get source --download-only "$1/$(. /etc/os-release; echo "$VERSION_CODENAME")"
}
