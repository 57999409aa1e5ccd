import { BoundedMap } from '../../../core/bounded-map.ts';
import type { FileVersion } from '../../../core/sandbox.ts';
import type { FilePool } from '../services.ts';

const MAX_FILES = 10_000;

/** The versions of files that a run has read, bounded: the oldest entries are dropped and count as never read. */
export class SeenFiles implements FilePool {
  readonly #versions: BoundedMap<string, string> = new BoundedMap(MAX_FILES);

  remember({ path, version }: FileVersion): void {
    this.#versions.set(path, version);
  }

  seen(path: string): string | undefined {
    return this.#versions.get(path);
  }
}
