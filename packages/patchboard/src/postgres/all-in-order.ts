/** Resolves when all have; rejects with the error of the first that failed, which caused those of the others. */
export async function allInOrder(promises: readonly (Promise<unknown> | null)[]): Promise<void> {
  const settled = await Promise.allSettled(promises.filter((one) => one !== null));
  for (const one of settled) if (one.status === 'rejected') throw one.reason;
}
