import type { FileVersion } from '../core/sandbox.ts';
import type { FilePool } from '../core/workspaces.ts';

const MAX_FILES = 10_000;

/** Forgets what was seen longest ago when there is too much; what is forgotten counts as never seen. */
export class SeenFiles implements FilePool {
  readonly #versions: Map<string, string> = new Map();

  remember({ path, version }: FileVersion): void {
    this.#versions.delete(path);
    this.#versions.set(path, version);
    const [oldest] = this.#versions.keys();
    if (this.#versions.size > MAX_FILES && oldest !== undefined) this.#versions.delete(oldest);
  }

  seen(path: string): string | undefined {
    return this.#versions.get(path);
  }
}
