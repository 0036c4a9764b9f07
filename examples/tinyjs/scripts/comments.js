// A line of words,
/* and several
   of them. */ print("seen"); /**/ print('//'); // the end
