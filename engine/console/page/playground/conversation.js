import { newSession } from "./facts.js";
import { Reply } from "./reply.js";

/**
 * A conversation: rounds, `{user, cells}`. `user` is the user's turn, `{text, files}`; `cells` has for
 * each lane its turns that follow, `{choice, reply}`: a reply, and those after the results of its
 * tools. `view` of a round and of a turn are the nodes that show it.
 */
export class Conversation {
	rounds = [];
	session = newSession();

	add(user) {
		const round = { user, cells: new Map(), view: null };
		this.rounds.push(round);
		return round;
	}

	/** Remove the rounds from an index on, and their nodes. */
	cut(index) {
		for (const { view } of this.rounds.splice(index)) view?.remove();
	}

	/** Remove a turn of a lane, those after it, and the later rounds. */
	cutTurn(round, lane, turn) {
		this.cut(this.rounds.indexOf(round) + 1);
		const cell = round.cells.get(lane);
		for (const { view } of cell.splice(cell.indexOf(turn))) view?.node.remove();
	}

	/**
	 * The turns that a model reads before a turn of its lane, the last if there is none. One that
	 * came later reads, of earlier rounds, the replies of the first.
	 */
	before(lane, turn) {
		const turns = [];
		for (const { user, cells } of this.rounds) {
			turns.push({ role: "user", ...user });
			const cell = cells.get(lane) ?? (cells.values().next().value || []);
			for (const other of cell) {
				if (other === turn) return turns;
				turns.push(asRead(other));
			}
		}
		return turns;
	}

	/** The choice of each last reply, and the turns before it. */
	last() {
		const cells = [...(this.rounds.at(-1)?.cells ?? [])].filter(([, turns]) => turns.length);
		return cells.map(([lane, turns]) => {
			const turn = turns.at(-1);
			return [turn.choice, this.before(lane, turn)];
		});
	}

	snapshot() {
		const { session } = this;
		const rounds = this.rounds.map(({ user, cells }) => ({
			user,
			cells: [...cells].map(([lane, turns]) => [
				lane,
				turns.map(({ choice, reply }) => ({ choice, reply: reply.snapshot() })),
			]),
		}));
		return { session, rounds };
	}

	/** The conversation of a snapshot, without nodes. */
	static from({ session, rounds }) {
		const conversation = new Conversation();
		conversation.session = session;
		conversation.rounds = rounds.map(({ user, cells }) => ({
			user,
			cells: new Map(
				cells.map(([lane, turns]) => [
					lane,
					turns.map(({ choice, reply }) => ({ choice, reply: Reply.from(reply) })),
				]),
			),
			view: null,
		}));
		return conversation;
	}
}

/** A reply as a model reads it: its tool calls only if each has a result. */
function asRead({ choice, reply }) {
	const calls = reply.openCalls;
	const hasResults = calls.every(({ output }) => typeof output === "string");
	return {
		role: "assistant",
		text: reply.text,
		files: [],
		calls: hasResults ? calls : [],
		opaque: reply.opaque,
		format: choice.format,
	};
}
