import { expect, it, onTestFinished } from 'vitest';
import { stopReason } from './stop-reason.ts';

function listeners(): readonly number[] {
  return [
    process.stdin.listenerCount('close'),
    process.listenerCount('SIGTERM'),
    process.listenerCount('SIGINT'),
    process.listenerCount('SIGHUP'),
  ];
}

it('leaves no listener of a fenced server, which starts again in the same process', async () => {
  onTestFinished(() => void process.stdin.pause());
  const before = listeners();
  let fence = (_problem: string): void => {};
  const stopping = stopReason(true, {
    onFenced: (listener) => {
      fence = listener;
    },
    endDrainDelay: () => false,
  });
  expect(listeners()).toEqual(before.map((count) => count + 1));
  fence('another server has taken over');
  expect(await stopping).toEqual({ fenced: 'another server has taken over' });
  expect(listeners()).toEqual(before);
});
