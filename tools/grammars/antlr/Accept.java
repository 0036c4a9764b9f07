import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import org.antlr.v4.Tool;
import org.antlr.v4.runtime.BaseErrorListener;
import org.antlr.v4.runtime.CharStreams;
import org.antlr.v4.runtime.CommonTokenStream;
import org.antlr.v4.runtime.LexerInterpreter;
import org.antlr.v4.runtime.ParserInterpreter;
import org.antlr.v4.runtime.RecognitionException;
import org.antlr.v4.runtime.Recognizer;
import org.antlr.v4.runtime.Token;
import org.antlr.v4.tool.Grammar;
import org.antlr.v4.tool.LexerGrammar;

/**
 * Says for each text on standard input (a length in four bytes, little end first,
 * then so many bytes) whether ANTLR takes it: `yes` or `no`, a line each. The
 * parser is made in memory from the grammar, so actions and predicates, which may
 * be of any language, have no say. Arguments: the grammar, and the rule to begin
 * with.
 */
public class Accept {
    public static void main(String[] args) throws Exception {
        File file = new File(args[0]).getAbsoluteFile();
        String start = args[1];
        Tool tool = new Tool(new String[] {"-lib", file.getParent()});
        Grammar grammar = load(tool, file);
        // Or in a file of its own, whose name the grammar gives.
        String vocabulary = grammar.getOptionString("tokenVocab");
        LexerGrammar lexer;
        if (vocabulary == null) {
            tool.process(grammar, false);
            lexer = grammar.getImplicitLexer();
        } else {
            lexer = (LexerGrammar) load(tool, new File(file.getParent(), vocabulary + ".g4"));
            tool.process(lexer, false);
            grammar.importVocab(lexer);
            // The tokens are there; the file that would have them is not.
            grammar.ast.cmdLineOptions = new HashMap<>();
            grammar.ast.cmdLineOptions.put("tokenVocab", null);
            tool.process(grammar, false);
        }
        if (grammar.getRule(start) == null || lexer == null || tool.getNumErrors() > 0) {
            System.err.println("ANTLR does not take the grammar");
            System.exit(1);
        }
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
        StringBuilder out = new StringBuilder();
        while (true) {
            int length;
            try {
                length = Integer.reverseBytes(in.readInt());
            } catch (EOFException end) {
                break;
            }
            byte[] bytes = new byte[length];
            in.readFully(bytes);
            String text = new String(bytes, StandardCharsets.UTF_8);
            // ANTLR knows this option from 4.10 on; grammars write large letters then.
            if ("true".equals(lexer.getOptionString("caseInsensitive"))) {
                text = text.toUpperCase(Locale.ROOT);
            }
            out.append(accepts(grammar, lexer, start, text) ? "yes\n" : "no\n");
        }
        System.out.print(out);
    }

    static Grammar load(Tool tool, File file) {
        Grammar grammar = tool.createGrammar(tool.parseGrammar(file.getPath()));
        grammar.fileName = file.getPath();
        return grammar;
    }

    static boolean accepts(Grammar grammar, LexerGrammar lexer, String start, String text) {
        int[] errors = {0};
        BaseErrorListener count = new BaseErrorListener() {
            @Override
            public void syntaxError(Recognizer<?, ?> r, Object symbol, int line, int column,
                    String message, RecognitionException e) {
                errors[0]++;
            }
        };
        LexerInterpreter lex = lexer.createLexerInterpreter(CharStreams.fromString(text));
        lex.removeErrorListeners();
        lex.addErrorListener(count);
        CommonTokenStream tokens = new CommonTokenStream(lex);
        ParserInterpreter parser = grammar.createParserInterpreter(tokens);
        parser.removeErrorListeners();
        parser.addErrorListener(count);
        parser.parse(grammar.getRule(start).index);
        return errors[0] == 0 && tokens.LA(1) == Token.EOF;
    }
}
