parser grammar TagsParser;
options { tokenVocab = TagsLexer; }
document : node* EOF ;
node : TEXT | OPEN NAME attribute* '/' CLOSE | OPEN NAME CLOSE node* OPEN SLASH NAME CLOSE ;
attribute : NAME '=' VALUE ;
