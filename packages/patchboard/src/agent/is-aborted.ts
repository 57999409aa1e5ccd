/** A function, because TypeScript would otherwise narrow `signal.aborted` although it can change. */
export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
