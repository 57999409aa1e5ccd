/** Node runs a timer with a longer delay at once. */
const MAX_DELAY_MS = 2_147_483_647;

/** Calls `action` after any number of milliseconds. Does not keep the process alive. Returns a function that cancels it. */
export function longTimeout(ms: number, action: () => void): () => void {
  const arm = (left: number): NodeJS.Timeout => {
    const delay = Math.min(left, MAX_DELAY_MS);
    return setTimeout(() => {
      if (left > delay) timer = arm(left - delay);
      else action();
    }, delay).unref();
  };
  let timer = arm(ms);
  return () => clearTimeout(timer);
}
