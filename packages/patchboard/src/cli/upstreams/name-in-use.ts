import { PatchboardError } from '@patchboard/client';
import type { UpstreamKind } from '@patchboard/wire';
import { didYouMean } from '../../core/spelling.ts';
import { upstreamNames, type UpstreamsConfig } from '../../settings/upstream-config.ts';
import { readUpstreamFile } from '../../settings/upstream-file.ts';
import { upstreamNameProblem } from '../../settings/upstream-problems.ts';
import type { CliContext } from '../context.ts';
import { UsageError } from '../exit-codes.ts';
import { configIn } from '../store-location.ts';

/** Returns the names that are in use, each with a sentence about where. */
export function namesInUse(context: CliContext, dataFolder: string): ReadonlyMap<string, string> {
  const added = readUpstreamFile(dataFolder);
  const names = new Map(
    upstreamNames(added.value).map((name): [string, string] => [
      name,
      `it is in ${added.file}; remove it first with: patchboard ${commandOf(added.value, name)} remove ${name}`,
    ]),
  );
  const config = configIn(context.environment, dataFolder);
  for (const name of upstreamNames(config?.value ?? {}))
    names.set(name, `it is defined in ${config?.file}: edit it there`);
  return names;
}

/** Throws a `UsageError` if the name is not valid or in use. */
export function throwIfUnusable(context: CliContext, dataFolder: string, name: string): void {
  const problem = upstreamNameProblem(name);
  if (problem !== null) throw new UsageError(`${name} ${problem}`);
  const place = namesInUse(context, dataFolder).get(name);
  if (place !== undefined) throw new UsageError(`the name ${name} is in use: ${place}`);
}

/** Throws if commands did not add an upstream of that kind and name. */
export function throwIfNotAdded(
  context: CliContext,
  dataFolder: string,
  { kind, name }: { readonly kind: UpstreamKind; readonly name: string },
): void {
  const { value, file } = readUpstreamFile(dataFolder);
  const ours = Object.keys((kind === 'mcp' ? value.upstreams : value.openapi) ?? {});
  if (ours.includes(name)) return;
  if (upstreamNames(value).includes(name))
    throw new UsageError(
      `${name} is of the other kind: run patchboard ${commandOf(value, name)} remove ${name}`,
    );
  const config = configIn(context.environment, dataFolder);
  if (upstreamNames(config?.value ?? {}).includes(name))
    throw new UsageError(`${name} is defined in ${config?.file}: edit it there`);
  const advice =
    ours.length === 0
      ? 'it has none; those of a config file are removed there'
      : `it has ${ours.join(', ')}${didYouMean(name, ours)}`;
  throw new PatchboardError('problem', `there is no upstream ${name} in ${file}`, {
    code: 'value_not_found',
    recommendations: [advice],
  });
}

function commandOf({ openapi = {} }: UpstreamsConfig, name: string): UpstreamKind {
  return Object.hasOwn(openapi, name) ? 'openapi' : 'mcp';
}
