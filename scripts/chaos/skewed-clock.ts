// Preloaded by Node (`--import …/skewed-clock.ts?ms=3600000`): the wall clock of the process is wrong by that number of milliseconds,
// also in its threads. Monotonic time stays as it is.
const offsetMs = Number(new URL(import.meta.url).searchParams.get('ms'));
if (!Number.isSafeInteger(offsetMs)) throw new Error('skewed-clock.ts needs ?ms=MILLISECONDS');

const RealDate = Date;
const now = (): number => RealDate.now() + offsetMs;
globalThis.Date = new Proxy(RealDate, {
  get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
  apply: () => new RealDate(now()).toString(),
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as Date,
});
