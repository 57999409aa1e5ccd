/** The exit codes by which shells name the signal that ended a process. */
export const EXIT_BY_SIGNAL: Readonly<Partial<Record<NodeJS.Signals, number>>> = {
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
};

const SIGNALS = Object.keys(EXIT_BY_SIGNAL) as NodeJS.Signals[];

/**
 * Runs `clean` when a signal ends this process, before the process ends. The returned function stops that. A second signal
 * ends the process at once.
 */
export function cleanOnSignal(
  clean: () => Promise<void>,
  signals: readonly NodeJS.Signals[] = SIGNALS,
): () => void {
  const end = (signal: NodeJS.Signals): void => {
    off();
    const exit = (): never => process.exit(EXIT_BY_SIGNAL[signal] ?? 1);
    clean().then(exit, exit);
  };
  const off = (): void => {
    for (const signal of signals) process.off(signal, end);
  };
  for (const signal of signals) process.once(signal, end);
  return off;
}
