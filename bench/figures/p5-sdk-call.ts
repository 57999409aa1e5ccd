import type { SdkCall, SdkCallSettings } from '../arms/sdk-call.ts';
import { runScript } from '../child.ts';
import type { Arm, Figure, FigureOptions } from '../figure.ts';
import { comparePaired, median } from '../statistics.ts';

/** P5: the cost of an in-process call, compared with the plain function and with the AI SDK's loop. */
export async function sdkCall({ quick, say }: FigureOptions): Promise<Figure> {
  const slices = quick ? 1 : 5;
  const settings: SdkCallSettings = quick ? { calls: 200, loops: 5 } : { calls: 20_000, loops: 200 };
  const runs: SdkCall[] = [];
  for (let slice = 0; slice < slices; slice += 1) {
    say(`P5: slice ${slice + 1} of ${slices}`);
    runs.push(await runScript<SdkCall>('./arms/sdk-call.ts', settings));
  }
  const over = runs.map(({ boardUs, bareUs }) => boardUs - bareUs);
  const toAiSdk = comparePaired(
    over,
    runs.map(({ aiSdkUs }) => aiSdkUs),
  );
  return {
    id: 'P5',
    work: [
      'board.call() of a tool that adds two numbers: schema, policy, record, slot, deadline, execute, output, ledger, event;',
      'the ratio is what that costs over the function, ÷ one more tool call in a generateText loop whose model replies at',
      "once. Microseconds are the process's own time, and rise with what else the machine does.",
    ],
    target: '≤ 6 µs over the bare function · ≤ 0.10 of the loop',
    durability: 'none: calls and ledger are kept in memory',
    ratio: toAiSdk.ratio,
    spread: { min: toAiSdk.min, max: toAiSdk.max },
    arms: {
      'board.call over the function': armOf(over),
      'the function': armOf(runs.map(({ bareUs }) => bareUs)),
      'one more call in generateText': armOf(runs.map(({ aiSdkUs }) => aiSdkUs)),
    },
    others: {},
  };
}

function armOf(runs: readonly number[]): Arm {
  return { unit: 'µs', median: median(runs), runs };
}
