/** Apart from the signal, because it changes behind the compiler's back. */
export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
