-- CPU-bound: inserts, an index, joins, sorting, aggregates, strings.
CREATE TABLE t(id INTEGER PRIMARY KEY, k INT, s TEXT);
INSERT INTO t
  WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 120000)
  SELECT i, i * 7919 % 10007, printf('%x-%d', i * 31, i % 97) FROM n;
CREATE INDEX tk ON t(k);
CREATE INDEX ts ON t(s);
SELECT count(*), sum(a.id - b.id) FROM t a JOIN t b ON a.k = b.k AND a.id < b.id;
SELECT s, count(*) FROM t GROUP BY substr(s, -2) ORDER BY 2 DESC, 1 LIMIT 5;
SELECT count(*) FROM t WHERE s LIKE '%a_-5%';
UPDATE t SET s = upper(s) WHERE k % 3 = 0;
SELECT max(s), min(s), total(k) FROM t;
DELETE FROM t WHERE k < 5000;
SELECT count(DISTINCT k) FROM t;
