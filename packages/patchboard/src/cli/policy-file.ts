import { isRecord } from '@patchboard/wire/json';
import { CONFIG_SCHEMA, type ConfigFile } from '../settings/config-schema.ts';
import { configProblems, policyProblems } from '../settings/config-file.ts';
import { parseText, type TextProblem } from '../settings/yaml-text.ts';

export type PolicyFile =
  | { readonly ok: true; readonly document: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problems: readonly TextProblem[] };

/** Reads a policy, or a config with a member `policy`. `upstreams` names those that are defined outside a config. */
export function readPolicy(text: string, upstreams: readonly string[] = []): PolicyFile {
  const parsed = parseText(text);
  const { value } = parsed;
  const whole = isConfig(value);
  const problems =
    whole || value === undefined ? configProblems(parsed, upstreams) : policyProblems(value, parsed, []);
  if (problems.length > 0) return { ok: false, problems };
  if (!whole) return { ok: true, document: value as Record<string, unknown> };
  const { policy = {}, devices } = value as ConfigFile;
  return { ok: true, document: { ...policy, ...(devices === undefined ? {} : { devices }) } };
}

const CONFIG_KEYS: ReadonlySet<string> = new Set(Object.keys(CONFIG_SCHEMA['properties'] as object));

/** `devices` occurs in both formats and decides nothing. A text with unknown keys only is checked as a policy. */
function isConfig(value: unknown): boolean {
  if (!isRecord(value)) return false;
  return Object.keys(value).some((key) => key !== 'devices' && CONFIG_KEYS.has(key));
}
