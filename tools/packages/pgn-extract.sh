# Chess games: plain make, hand-written scanner.
program=pgn-extract
arguments='-s @@'
seeds='test/infiles/*'
