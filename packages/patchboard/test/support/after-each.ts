import { afterEach } from 'vitest';

/** Registers a resource that is closed when the test ends, in reverse order. */
export function closedAfterEach(): (close: () => unknown) => void {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  return (close) => {
    closing.push(close);
  };
}
