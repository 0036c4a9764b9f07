# Attachments of mail: plain make, hand-written parser.
program=ripmime
arguments='-i @@ -d .'
make_seeds() {
    cat >"$1/mail" <<'END'
From: a@b
Subject: =?utf-8?Q?x=20y?=
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b1"

--b1
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

=41=42

--b1
Content-Type: application/octet-stream; name="f.bin"
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename="f.bin"

QUJDRA==
--b1--
END
}
