/* The symbols of TeX by their commands. */

const words = (text) => Object.fromEntries(text.split(" ").map((word) => word.split(":")));

/** Letters and other identifiers. */
export const LETTERS = words(
	"alpha:α beta:β gamma:γ delta:δ epsilon:ϵ varepsilon:ε zeta:ζ eta:η theta:θ vartheta:ϑ iota:ι " +
		"kappa:κ lambda:λ mu:μ nu:ν xi:ξ pi:π varpi:ϖ rho:ρ varrho:ϱ sigma:σ varsigma:ς tau:τ " +
		"upsilon:υ phi:ϕ varphi:φ chi:χ psi:ψ omega:ω Gamma:Γ Delta:Δ Theta:Θ Lambda:Λ Xi:Ξ Pi:Π " +
		"Sigma:Σ Upsilon:Υ Phi:Φ Psi:Ψ Omega:Ω infty:∞ partial:∂ nabla:∇ hbar:ℏ ell:ℓ Re:ℜ Im:ℑ " +
		"aleph:ℵ emptyset:∅ varnothing:∅ imath:ı jmath:ȷ wp:℘ top:⊤ bot:⊥ angle:∠ triangle:△",
);

/** Operators, relations, arrows and fences. */
export const OPERATORS = words(
	"times:× div:÷ cdot:⋅ pm:± mp:∓ ast:∗ star:⋆ circ:∘ bullet:∙ oplus:⊕ ominus:⊖ otimes:⊗ odot:⊙ " +
		"cap:∩ cup:∪ setminus:∖ wedge:∧ land:∧ vee:∨ lor:∨ neg:¬ lnot:¬ leq:≤ le:≤ geq:≥ ge:≥ neq:≠ " +
		"ne:≠ ll:≪ gg:≫ approx:≈ equiv:≡ sim:∼ simeq:≃ cong:≅ propto:∝ in:∈ notin:∉ ni:∋ subset:⊂ " +
		"subseteq:⊆ supset:⊃ supseteq:⊇ forall:∀ exists:∃ nexists:∄ mid:∣ nmid:∤ parallel:∥ perp:⊥ " +
		"to:→ rightarrow:→ leftarrow:← gets:← leftrightarrow:↔ Rightarrow:⇒ implies:⟹ Leftarrow:⇐ " +
		"Leftrightarrow:⇔ iff:⟺ mapsto:↦ longrightarrow:⟶ longleftarrow:⟵ hookrightarrow:↪ uparrow:↑ " +
		"downarrow:↓ rightharpoonup:⇀ rightleftharpoons:⇌ therefore:∴ because:∵ ldots:… dots:… " +
		"cdots:⋯ vdots:⋮ ddots:⋱ prime:′ langle:⟨ rangle:⟩ lfloor:⌊ rfloor:⌋ lceil:⌈ rceil:⌉ lbrace:{ " +
		"rbrace:} vert:| Vert:‖ lvert:| rvert:| lVert:‖ rVert:‖ models:⊨ vdash:⊢ dagger:† backslash:\\",
);

/** Operators whose limits stand above and below them, and those whose limits stand beside them. */
export const SUMS = words(
	"sum:∑ prod:∏ coprod:∐ bigcup:⋃ bigcap:⋂ bigoplus:⨁ bigotimes:⨂ bigvee:⋁ bigwedge:⋀",
);
export const INTEGRALS = words("int:∫ iint:∬ iiint:∭ oint:∮");

/** Names of functions, and those with a limit below them. */
export const FUNCTIONS = new Set(
	"sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp det dim ker deg arg gcd hom Pr".split(
		" ",
	),
);
export const LIMITS = new Set("lim limsup liminf max min sup inf argmax argmin".split(" "));

export const ACCENTS = words(
	"hat:^ widehat:^ bar:¯ overline:¯ vec:→ overrightarrow:→ dot:˙ ddot:¨ tilde:~ widetilde:~ check:ˇ " +
		"acute:´ grave:` breve:˘ overbrace:⏞",
);
export const BELOW = words("underline:_ underbrace:⏟");

/** Spaces, in em. */
export const SPACES = { ",": 0.17, ":": 0.22, ";": 0.28, " ": 0.25, "!": 0, quad: 1, qquad: 2 };

/** Matrices and other environments by name, with the fences around them. */
export const ENVIRONMENTS = {
	...{ matrix: "", pmatrix: "()", bmatrix: "[]", Bmatrix: "{}", vmatrix: "||", Vmatrix: "‖‖" },
	...{ smallmatrix: "", array: "", cases: "{", aligned: "", align: "", "align*": "", split: "" },
	...{ gathered: "", gather: "", "gather*": "", equation: "", "equation*": "" },
};

/** Where each alphabet begins: capital letters, small letters, digits; 0 for none. */
export const ALPHABETS = {
	mathbf: [0x1d400, 0x1d41a, 0x1d7ce],
	boldsymbol: [0x1d468, 0x1d482, 0],
	bm: [0x1d468, 0x1d482, 0],
	mathcal: [0x1d49c, 0x1d4b6, 0],
	mathscr: [0x1d49c, 0x1d4b6, 0],
	mathfrak: [0x1d504, 0x1d51e, 0],
	mathbb: [0x1d538, 0x1d552, 0x1d7d8],
	mathsf: [0x1d5a0, 0x1d5ba, 0x1d7e2],
	mathtt: [0x1d670, 0x1d68a, 0x1d7f6],
};

/** The letters that Unicode has elsewhere, by the place where they would be. */
const MOVED = {
	0x1d49c: "𝒜ℬ𝒞𝒟ℰℱ𝒢ℋℐ𝒥𝒦ℒℳ𝒩𝒪𝒫𝒬ℛ𝒮𝒯𝒰𝒱𝒲𝒳𝒴𝒵",
	0x1d4b6: "𝒶𝒷𝒸𝒹ℯ𝒻ℊ𝒽𝒾𝒿𝓀𝓁𝓂𝓃ℴ𝓅𝓆𝓇𝓈𝓉𝓊𝓋𝓌𝓍𝓎𝓏",
	0x1d504: "𝔄𝔅ℭ𝔇𝔈𝔉𝔊ℌℑ𝔍𝔎𝔏𝔐𝔑𝔒𝔓𝔔ℜ𝔖𝔗𝔘𝔙𝔚𝔛𝔜ℨ",
	0x1d538: "𝔸𝔹ℂ𝔻𝔼𝔽𝔾ℍ𝕀𝕁𝕂𝕃𝕄ℕ𝕆ℙℚℝ𝕊𝕋𝕌𝕍𝕎𝕏𝕐ℤ",
};

/** A letter or digit of an alphabet; any other character as it is. */
export function styled(character, alphabet) {
	const places = [/[A-Z]/, /[a-z]/, /[0-9]/];
	const kind = places.findIndex((pattern) => pattern.test(character));
	const start = ALPHABETS[alphabet]?.[kind];
	if (!start) return character;
	const offset = character.charCodeAt(0) - "Aa0".charCodeAt(kind);
	return MOVED[start] ? [...MOVED[start]][offset] : String.fromCodePoint(start + offset);
}
