import { afterEach } from 'vitest';

/** Takes what a test must close again; it is closed when the test ends, the last first. */
export function closedAfterEach(): (close: () => unknown) => void {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  return (close) => {
    closing.push(close);
  };
}
