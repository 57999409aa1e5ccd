import { describe, expect, it } from 'vitest';
import { ConfigError, parseConfig } from './config-file.ts';
import { drainDelayMs } from './drain-delay.ts';
import type { Environment } from './environment.ts';

function delay(given: Environment, config = '{}'): number {
  return drainDelayMs(given, parseConfig(config, 'c.yaml').value);
}

describe('the drain delay', () => {
  it('is five seconds, or that of the file, or that of the environment; zero is allowed', () => {
    expect(delay({})).toBe(5000);
    expect(delay({ PATCHBOARD_DRAIN_DELAY_MS: '' }, 'http: { drain_delay_ms: 700 }')).toBe(700);
    expect(delay({ PATCHBOARD_DRAIN_DELAY_MS: '0' }, 'http: { drain_delay_ms: 700 }')).toBe(0);
    expect(delay({}, 'http: { drain_delay_ms: 0 }')).toBe(0);
  });

  it.each(['-1', '1.5', '5s', '600001'])('%s is refused', (text) => {
    expect(() => delay({ PATCHBOARD_DRAIN_DELAY_MS: text })).toThrow(ConfigError);
  });

  it('refuses a wrong number in the file', () => {
    expect(() => delay({}, 'http: { drain_delay_ms: -1 }')).toThrow(ConfigError);
  });
});
