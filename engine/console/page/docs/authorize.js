/* Which security scheme carries the token of each operation. */

/** The better the scheme, the lower: a token in an address is written to logs and the history. */
const RANKS = { bearer: 0, header: 1, basic: 2, query: 3 };

const rank = ({ scheme, in: place }) => RANKS[scheme ?? place] ?? Infinity;

/** The names of the schemes that are used: of each operation its best one. */
function chosen({ paths, components }) {
	const schemes = components.securitySchemes ?? {};
	const names = new Set();
	for (const item of Object.values(paths)) {
		for (const operation of [
			...Object.values(item),
			...Object.values(item.additionalOperations ?? {}),
		]) {
			const alternatives = (operation.security ?? []).flatMap(Object.keys);
			alternatives.sort((one, other) => rank(schemes[one]) - rank(schemes[other]));
			const [best] = alternatives;
			if (best && rank(schemes[best]) < Infinity) names.add(best);
		}
	}
	return names;
}

/** Let Swagger UI send a token with its requests, or none if it is "". */
export function authorize(ui, token) {
	const document = ui.specSelectors.specJson();
	const names = [...chosen(document.toJS())];
	ui.authActions.logout(names);
	if (!token) return;
	const entries = names.map((name) => {
		const schema = document.getIn(["components", "securitySchemes", name]);
		const isBasic = schema.get("scheme") === "basic";
		const value = isBasic ? { username: "token", password: token } : token;
		return [name, { name, schema, value }];
	});
	ui.authActions.authorize(Object.fromEntries(entries));
}
