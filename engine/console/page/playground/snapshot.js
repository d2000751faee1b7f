/* The conversation and the settings of this tab, which survive a reload. The token is not here. */

const KEY = "modelway.playground";
const VERSION = 1; // of the form of the snapshot

/** Without the bytes of files and pictures, and saying so. */
function light({ rounds, ...rest }) {
	const lighter = ({ data, text, ...file }) => ({ ...file, lost: true });
	return {
		...rest,
		draftFiles: [],
		rounds: rounds.map(({ user, cells }) => ({
			user: { ...user, files: user.files.map(lighter) },
			cells: cells.map(([lane, turns]) => [
				lane,
				turns.map(({ reply, ...turn }) => ({ ...turn, reply: { ...reply, pictures: [] } })),
			]),
		})),
	};
}

/** Keep a snapshot. Browsers allow some megabytes: if it is larger, files are left out. */
export function save(snapshot) {
	for (const candidate of [snapshot, light(snapshot)]) {
		try {
			sessionStorage.setItem(KEY, JSON.stringify({ ...candidate, version: VERSION }));
			return;
		} catch (error) {
			if (error.name !== "QuotaExceededError") throw error;
		}
	}
	sessionStorage.removeItem(KEY);
}

/** The snapshot of this tab; null if there is none of this version. */
export function load() {
	try {
		const snapshot = JSON.parse(sessionStorage.getItem(KEY));
		return snapshot?.version === VERSION ? snapshot : null;
	} catch {
		return null;
	}
}
