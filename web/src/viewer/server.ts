// SPDX-License-Identifier: GPL-2.0-or-later
// The server of pinch view: asked for what is wanted, and asked again and again when it is gone.

export type Connection = "there" | "gone" | "refused";

const AGAIN_MS = 1000, NO_CONTENT = 204;

/** What the server says it cannot do; the message is its own. */
export class Refusal extends Error {
	constructor(readonly status: number, message: string) {
		super(message);
	}
}

export class Server {
	connection: Connection = "there";
	private listeners = new Set<() => void>();
	private isWaiting = false;

	/** prefix: of all paths, for there may be several traces: "b/". */
	constructor(private prefix = "") {}

	/** What a path of the trace is for a link of the page. */
	path(path: string): string {
		return this.prefix + path;
	}

	/** When it goes, and when it is back. Returns what ends it. */
	onConnection(listener: () => void): () => void {
		this.listeners.add(listener);
		return () => { this.listeners.delete(listener); };
	}

	/** Rejects with a Refusal, with an AbortError, or, when the server is gone, with another error. */
	private async ask(path: string, signal?: AbortSignal, body?: string): Promise<Response> {
		let response: Response;

		try {
			response = await fetch(this.path(path), { signal, credentials: "same-origin", ...body !== undefined && { method: "POST", body } });
		} catch (error) {
			if (!signal?.aborted)
				this.lose();
			throw error;
		}
		if (response.ok) {
			this.set("there");
			if (response.status === NO_CONTENT)
				throw new Refusal(NO_CONTENT, "the lanes of the trace are others by now");
			return response;
		}
		if (response.status === 403)
			this.set("refused");
		throw new Refusal(response.status, (await response.text()).trim().slice(0, 300) || response.statusText);
	}

	async json<T>(path: string, signal?: AbortSignal): Promise<T> {
		return (await this.ask(path, signal)).json();
	}

	async post<T>(path: string, body: string, signal?: AbortSignal): Promise<T> {
		return (await this.ask(path, signal, body)).json();
	}

	async text(path: string, signal?: AbortSignal): Promise<string> {
		return (await this.ask(path, signal)).text();
	}

	async bytes(path: string, signal?: AbortSignal): Promise<Uint8Array> {
		return new Uint8Array(await (await this.ask(path, signal)).arrayBuffer());
	}

	private set(connection: Connection): void {
		if (connection === this.connection)
			return;
		this.connection = connection;
		for (const listener of this.listeners)
			listener();
	}

	private lose(): void {
		this.set("gone");
		if (this.isWaiting)
			return;
		this.isWaiting = true;
		setTimeout(() => {
			this.isWaiting = false;
			this.ask("trace").catch(() => {});	// it says itself when it is lost again
		}, AGAIN_MS);
	}
}

export function isAborted(error: unknown): boolean {
	return error instanceof DOMException && error.name === "AbortError";
}

/** A query of what there is a value for. */
export function query(path: string, values: Record<string, string | number | readonly string[] | null | undefined>): string {
	const search = new URLSearchParams();

	for (const [name, value] of Object.entries(values))
		for (const one of Array.isArray(value) ? value : [value])
			if (one !== null && one !== undefined && one !== "")
				search.append(name, String(one));
	const text = search.toString();
	return text ? `${path}?${text}` : path;
}
