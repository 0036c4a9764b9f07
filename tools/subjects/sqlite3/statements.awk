# Writes the statements that the shell is checked with: the same ones every time,
# from a generator of our own, because awk's rand() differs between awks. Each
# statement is preceded by a line that names it in the output.

function rnd(n) {
    seed = (seed * 1103 + 12347) % 1000003
    return seed % n
}
function say(sql) {
    printf ".print === %d\n%s\n", ++number, sql
}
function word() {
    return words[1 + rnd(count)]
}
function compare() {
    return column() " " substr("= <><=>=< > ", 1 + 2 * rnd(6), 2) " " rnd(120)
}
function column() {
    return substr("abcd", 1 + rnd(3), 1)
}
function condition(depth, k) {
    k = rnd(depth > 2 ? 4 : 7)
    if (k < 2) return compare()
    if (k == 2) return "name LIKE '%" substr(word(), 1, 1 + rnd(2)) "%'"
    if (k == 3) return column() " BETWEEN " rnd(50) " AND " 50 + rnd(70)
    if (k == 4) return "(" condition(depth + 1) " AND " condition(depth + 1) ")"
    if (k == 5) return "(" condition(depth + 1) " OR " condition(depth + 1) ")"
    return "NOT (" condition(depth + 1) ")"
}

BEGIN {
    seed = 4711
    count = split("oak ash elm yew fir alder hazel birch rowan beech holly maple", words)
    say("CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b INT, c REAL, name TEXT UNIQUE, blob BLOB);")
    say("CREATE TABLE u(t_id INT REFERENCES t(id), kind TEXT NOT NULL CHECK (kind <> ''), n INT DEFAULT 7);")
    say("CREATE INDEX t_ab ON t(a, b DESC);")
    say("CREATE TABLE log(message);")
    say("CREATE TRIGGER t_log AFTER UPDATE OF a ON t WHEN new.a > old.a BEGIN INSERT INTO log VALUES (old.a || '->' || new.a); END;")
    say("CREATE VIEW v AS SELECT t.id, t.name, count(u.t_id) AS uses FROM t LEFT JOIN u ON u.t_id = t.id GROUP BY t.id;")
    say("BEGIN;")
    for (i = 1; i <= 90; i++)
        say(sprintf("INSERT INTO t VALUES (%d, %d, %s, %d.%d, '%s-%d', x'%04x');", i, rnd(100), rnd(9) ? rnd(100) : "NULL", rnd(90), rnd(10), word(), i, rnd(65536)))
    for (i = 1; i <= 70; i++)
        say(sprintf("INSERT INTO u(t_id, kind) VALUES (%d, '%s');", 1 + rnd(100), word()))
    say("COMMIT;")
    for (i = 1; i <= 60; i++)
        say("SELECT id, a, b, c, name FROM t WHERE " condition(0) " ORDER BY " column() ", id LIMIT " 3 + rnd(6) ";")
    for (i = 1; i <= 30; i++)
        say("SELECT " column() " / 10 AS g, count(*), sum(" column() "), avg(c), min(name), max(b) FROM t WHERE " condition(1) " GROUP BY g HAVING count(*) > " rnd(3) " ORDER BY g;")
    for (i = 1; i <= 20; i++)
        say("SELECT t.name, u.kind FROM t JOIN u ON t.id = u.t_id WHERE " condition(1) " ORDER BY t.id, u.kind LIMIT 8;")
    for (i = 1; i <= 12; i++)
        say("SELECT id, row_number() OVER w, sum(a) OVER w, lag(b, 1, -1) OVER w FROM t WHERE " condition(1) " WINDOW w AS (PARTITION BY a % " 2 + rnd(4) " ORDER BY id) ORDER BY id LIMIT 9;")
    for (i = 1; i <= 15; i++)
        say("UPDATE t SET a = a + " rnd(9) - 4 ", c = round(c * 1." rnd(9) ", 2) WHERE " condition(1) "; SELECT changes(), (SELECT count(*) FROM log);")
    for (i = 1; i <= 8; i++)
        say("SELECT a FROM t WHERE " compare() " INTERSECT SELECT b FROM t WHERE " compare() " UNION SELECT max(a) FROM t ORDER BY 1;")
    for (i = 1; i <= 8; i++)
        say("EXPLAIN QUERY PLAN SELECT * FROM t WHERE " condition(1) " ORDER BY a;")
    say("SELECT * FROM v WHERE uses > 1 ORDER BY id;")
    say("WITH RECURSIVE f(n, x, y) AS (VALUES (1, 0, 1) UNION ALL SELECT n + 1, y, x + y FROM f WHERE n < 40) SELECT group_concat(x, ',') FROM f;")
    say("SELECT json_extract('{\"a\":[1,{\"b\":\"c\"}]}', '$.a[1].b'), json_array(1, 'two', null), json_valid('{bad');")
    say("SELECT key, value FROM json_each('{\"x\":1,\"y\":[2,3]}');")
    say("SELECT date('2020-02-29', '+1 year'), julianday('2000-01-01'), strftime('%W %j', '2021-12-31'), time(0.25);")
    say("SELECT printf('%05d|%-6s|%.3f|%x|%,d', 42, 'ab', 2.0 / 3, 255, 1234567), hex('abc'), quote(x'00ff'), typeof(1.0);")
    say("SELECT upper(name), substr(name, 2, 3), instr(name, '-'), length(blob), replace(name, 'a', 'A') FROM t WHERE id < 6;")
    say("SELECT 9223372036854775807 + 1, -7 / 2, -7 % 3, 1 << 62, ~5, 5 & 3 | 8, 1 / 0, '12abc' + 1, 0x10, 1e3;")
    say("SELECT CAST('3.9' AS INT), CAST(2.5 AS TEXT), CAST(x'4142' AS TEXT), 'a' < 'B' COLLATE NOCASE, NULL IS NOT 1;")
    say("SELECT a, CASE WHEN a > 50 THEN 'high' WHEN a IS NULL THEN 'none' ELSE 'low' END FROM t ORDER BY id LIMIT 5;")
    say("INSERT INTO t(id, name) VALUES (1, 'clash');")
    say("INSERT OR REPLACE INTO t(id, name) VALUES (1, 'replaced'); SELECT name FROM t WHERE id = 1;")
    say("INSERT INTO t(id, name) VALUES (2, 'x') ON CONFLICT(id) DO UPDATE SET name = excluded.name || '!' RETURNING name;")
    say("INSERT INTO u VALUES (1, '', 2);")
    say("SELECT nonsense FROM t;")
    say("SELEC 1;")
    say("SAVEPOINT s; DELETE FROM t WHERE id > 10; SELECT count(*) FROM t; ROLLBACK TO s; RELEASE s; SELECT count(*) FROM t;")
    say("DELETE FROM u WHERE rowid IN (SELECT rowid FROM u ORDER BY kind LIMIT 5); SELECT count(*) FROM u;")
    say("CREATE VIRTUAL TABLE docs USING fts4(body);")
    say("INSERT INTO docs VALUES ('the quick brown fox'), ('the lazy dog'), ('quick dogs run');")
    say("SELECT body FROM docs WHERE docs MATCH 'quick OR lazy' ORDER BY rowid;")
    say("CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1, y0, y1);")
    say("INSERT INTO boxes VALUES (1, 0, 2, 0, 2), (2, 5, 6, 5, 6), (3, 1, 3, 1, 3);")
    say("SELECT id FROM boxes WHERE x0 < 2.5 AND x1 > 1.5 ORDER BY id;")
    say("ALTER TABLE t ADD COLUMN extra DEFAULT 'e'; ALTER TABLE u RENAME COLUMN n TO m; SELECT extra FROM t LIMIT 1;")
    say("VACUUM;")
    say("PRAGMA integrity_check;")
    say(".schema t")
    say(".mode column\nSELECT id, name FROM t LIMIT 3;")
    say(".mode json\nSELECT id, name, c FROM t LIMIT 3;")
    say("DROP VIEW v; DROP TABLE u; SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1;")
}
