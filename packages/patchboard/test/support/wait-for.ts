import { vi } from 'vitest';

/** Retries until `check` neither throws nor rejects. The limit only ends what hangs: a busy machine is slow. */
export async function waitFor<T>(check: () => T | Promise<T>, limitMs = 50_000): Promise<T> {
  return await vi.waitFor(check, { timeout: limitMs });
}
