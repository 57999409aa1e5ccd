/** Resolves when all have; rejects with the error of the first that failed, which caused those of the others. */
export async function allInOrder(promises: readonly (Promise<unknown> | null)[]): Promise<void> {
  for (const one of await Promise.allSettled(promises)) if (one.status === 'rejected') throw one.reason;
}
