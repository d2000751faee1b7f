/* Highlights code by the tokens that most languages share. */

const MAX_LENGTH = 50_000; // characters; longer code stays as it is

const words = (text) => new Set(text.split(" "));

const COMMON =
	"break case catch class const continue default do else enum export extends false finally for from function if import in interface new null return static struct super switch this throw true try type typeof var void while yield";
const WORDS = {
	c: words(
		`${COMMON} abstract as assert async auto await bool boolean byte chan char const crate debugger def defer delete double dyn error explicit extern final float fn fun func go goto implements impl inline instanceof int int32 int64 let long loop map match mod module move mut namespace never nil number object of open operator override package private protected pub public range readonly ref require rune self short signed sizeof some string trait undefined union unknown unsafe unsigned use using val virtual when where with`,
	),
	python: words(
		"and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield None True False self",
	),
	shell: words(
		"if then else elif fi for while until do done case esac in function return local export source alias set unset cd echo exit true false begin end def module require attr_accessor nil unless elsif rescue yield self",
	),
	sql: words(
		"select from where join left right inner outer full on group by order having limit offset insert into values update set delete create table index view alter drop add primary key foreign references not null and or in is like between as distinct union all case when then else end exists with returning default unique constraint asc desc count sum avg min max coalesce cast interval",
	),
	json: words("true false null"),
	none: new Set(),
};

const STRING = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`;
const TICKS = "`(?:[^`\\\\]|\\\\[^])*`";
const SLASHES = String.raw`\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)`;
const HASH = String.raw`(?<![^\s;])#[^\n]*`;
const DASHES = String.raw`--[^\n]*|\/\*[^]*?(?:\*\/|$)`;

/** A rule: the patterns of comments and strings, and the words. */
const rule = (comment, string, keywords, more = "(?!)") => ({
	pattern: new RegExp(
		`(?<comment>${comment})|(?<string>${string})|(?<mark>${more})|` +
			String.raw`(?<number>\b(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\b)|(?<word>[A-Za-z_$][\w$]*)`,
		"g",
	),
	keywords,
});

const C = rule(SLASHES, `${STRING}|${TICKS}`, WORDS.c);
const PYTHON = rule(
	HASH,
	String.raw`"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|${STRING}`,
	WORDS.python,
	"@[\\w.]+",
);
const SHELL = rule(
	HASH,
	STRING,
	WORDS.shell,
	String.raw`\$(?:\w+|\{[^}\n]*\}?)|(?<![^\s])--?[a-zA-Z][\w-]*`,
);
const YAML = rule(
	HASH,
	STRING,
	WORDS.json,
	String.raw`^[ \t-]*[\w.\/$-]+(?=:(?:\s|$))`.replace("^", "(?<=^|\\n)"),
);
const JSON_RULE = rule(
	"//[^\\n]*",
	String.raw`"(?:[^"\\\n]|\\.)*"(?!\s*:)`,
	WORDS.json,
	String.raw`"(?:[^"\\\n]|\\.)*"(?=\s*:)`,
);
const MARKUP = rule("<!--[^]*?(?:-->|$)", STRING, WORDS.none, String.raw`<\/?[\w:-]+|\/?>`);
const CSS = rule(
	String.raw`\/\*[^]*?(?:\*\/|$)`,
	STRING,
	WORDS.none,
	String.raw`@[\w-]+|[\w-]+(?=\s*:[^:{]*[;}])|#[\da-fA-F]{3,8}\b`,
);
const SQL = rule(DASHES, String.raw`'(?:[^']|'')*'|"[^"\n]*"`, WORDS.sql);
const DIFF = {
	pattern: /(?<=^|\n)(?:(?<string>\+[^\n]*)|(?<removed>-[^\n]*)|(?<comment>@@[^\n]*))/g,
	keywords: WORDS.none,
};

/** The rules by the names of languages. */
const RULES = Object.fromEntries(
	[
		[
			C,
			"js javascript mjs jsx ts typescript tsx java c h cpp c++ cc cs csharp c# go golang rust rs kotlin kt swift php scala dart proto groovy",
		],
		[PYTHON, "py python python3 starlark"],
		[
			SHELL,
			"sh bash shell zsh console curl dockerfile docker make makefile ruby rb perl r elixir nix toml ini hcl terraform",
		],
		[YAML, "yaml yml"],
		[JSON_RULE, "json jsonc json5 jsonl"],
		[MARKUP, "html xml svg vue xhtml"],
		[CSS, "css scss less"],
		[SQL, "sql postgres postgresql mysql sqlite plsql lua haskell"],
		[DIFF, "diff patch"],
	].flatMap(([one, names]) => names.split(" ").map((name) => [name, one])),
);

/** Highlight a `code` element, whose only child is its text. */
export function highlight(code, language) {
	const name = language.toLowerCase();
	const text = code.textContent;
	if (!Object.hasOwn(RULES, name) || text.length > MAX_LENGTH) return;
	const { pattern, keywords } = RULES[name];
	const pieces = [];
	let end = 0;
	for (const match of text.matchAll(pattern)) {
		const kind = Object.keys(match.groups).find((group) => match.groups[group] !== undefined);
		if (kind === "word" && !keywords.has(match[0]) && !keywords.has(match[0].toLowerCase()))
			continue;
		const span = document.createElement("span");
		span.className = `code-${kind}`;
		span.textContent = match[0];
		pieces.push(text.slice(end, match.index), span);
		end = match.index + match[0].length;
	}
	code.replaceChildren(...pieces.filter(Boolean), text.slice(end));
}
