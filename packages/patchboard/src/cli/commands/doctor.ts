import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PatchboardError } from '@patchboard/client';
import type { UpstreamView } from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';
import { hasLocalModeEnded } from '../../core/access/local-mode.ts';
import { messageOf } from '../../core/failures.ts';
import { operatorTokenFile } from '../../identity/operator-token.ts';
import { shownUrl } from '../../postgres/connection-options.ts';
import { connectAdvice } from '../../postgres/sql-errors.ts';
import { environment, type Environment } from '../../settings/environment.ts';
import { allUpstreams } from '../../settings/read-upstreams.ts';
import { connectionOf } from '../connection.ts';
import { processContext, withServerOptions, type CliContext, type ServerOptions } from '../context.ts';
import { holdsStore, keysIn, withReadOnlyStore } from '../data-folder.ts';
import { busFindings } from '../database/bus-findings.ts';
import { databaseFacts } from '../database/database-facts.ts';
import { databaseFindings, type Finding } from '../database/database-findings.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { isLocalMode } from '../local-mode.ts';
import { nodeFindings } from '../nodes-finding.ts';
import { asOperator } from '../operator-client.ts';
import type { Registrar } from '../program.ts';
import { storeLocation, withDatabaseFlags, type StoreFlags } from '../store-location.ts';
import { printable } from '../terminal-text.ts';
import { makeDataFolder } from '../../settings/make-data-folder.ts';
import { dataFolderExposure, operatorTokenExposure } from '../../settings/private-data-folder.ts';
import { storeFileIn } from '../../store/sqlite/store-file.ts';
import { lossRefusal } from '../../store/sqlite/store-loss.ts';
import { isLoopback, resolveSettings, type Settings } from '../../settings/settings.ts';

interface DoctorFlags extends StoreFlags, ServerOptions {}

export function doctorCommand(context: CliContext): Registrar {
  return (program) => {
    const command = withDatabaseFlags(program.command('doctor'), 'check a server on the store');
    withServerOptions(command)
      .description('check this machine, its settings and the server')
      .addHelpText('after', '\nExits with 1 if a check fails.\n\nExample:\n  $ patchboard doctor')
      .action((flags: DoctorFlags) => doctor(context, flags));
  };
}

async function doctor(context: CliContext, flags: DoctorFlags): Promise<void> {
  const { output } = context;
  const ofDatabase = await checkDatabase(flags);
  const findings = [
    checkNode(),
    ...(await checkSettings(flags)),
    ...ofDatabase,
    ...(await busFindings(environmentWith(flags.database), ofDatabase)),
    ...(await checkServer(context, flags)),
  ];
  if (flags.json === true) output.json({ findings });
  else for (const finding of findings) output.data(line(finding));
  if (findings.some((finding) => !finding.ok)) context.exitWith(EXIT.toolFailed);
}

function line({ check, ok, warning, detail }: Finding): string {
  const verdict = warning === true ? 'warn' : ok ? 'ok  ' : 'FAIL';
  return `${verdict}  ${check.padEnd(12)} ${printable(detail)}`;
}

function checkNode(): Finding {
  const major = Number(process.versions.node.split('.')[0]);
  return { check: 'node', ok: major >= 24, detail: `${process.versions.node} (24 or newer is needed)` };
}

/** The environment, with the database of a flag. */
function environmentWith(database: string | undefined): Environment {
  return database === undefined ? environment() : { ...environment(), DATABASE_URL: database };
}

async function checkSettings({ database }: StoreFlags): Promise<Finding[]> {
  try {
    const settings = resolveSettings(environmentWith(database), {});
    const found: Finding[] = [{ check: 'settings', ok: true, detail: `${settings.host}:${settings.port}` }];
    return [
      ...found,
      await checkDataFolder(settings.dataFolder),
      await checkOperatorToken(settings),
      ...(await checkStore(settings)),
      await checkSandbox(settings),
      ...configuredUpstreams(settings),
    ];
  } catch (error) {
    return [{ check: 'settings', ok: false, detail: messageOf(error) }];
  }
}

async function checkDataFolder(folder: string): Promise<Finding> {
  try {
    await makeDataFolder(folder);
    const problem = dataFolderExposure(folder);
    return { check: 'data folder', ok: problem === null, detail: problem ?? folder };
  } catch (error) {
    return { check: 'data folder', ok: false, detail: messageOf(error) };
  }
}

/** The token gives the rights of the operator, so other users of this machine must not be able to read it. */
async function checkOperatorToken({ dataFolder, operatorTokens }: Settings): Promise<Finding> {
  const check = 'token';
  if (operatorTokens !== null) {
    const tokens = operatorTokens.length === 1 ? 'one token' : 'two tokens, both are accepted';
    return { check, ok: true, detail: `PATCHBOARD_OPERATOR_TOKEN holds ${tokens}` };
  }
  const file = operatorTokenFile(dataFolder);
  try {
    const mode = ((await stat(file)).mode & 0o777).toString(8).padStart(4, '0');
    const problem = operatorTokenExposure(dataFolder);
    return { check, ok: problem === null, detail: problem ?? `${file}, mode ${mode}` };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      return { check, ok: false, detail: messageOf(error) };
    return { check, ok: true, detail: `${file} is created at the first start of the server` };
  }
}

/** Checks the database of the store, also if other settings are wrong. Returns nothing for a store in the data folder. */
async function checkDatabase(flags: StoreFlags): Promise<Finding[]> {
  const check = 'postgres';
  try {
    const location = storeLocation(processContext(environment()), flags);
    if (location.kind === 'folder') return [];
    try {
      return databaseFindings(await databaseFacts(location), location);
    } catch (error) {
      const detail = `${location.shown} cannot be opened (${messageOf(error)}); ${connectAdvice(error)}`;
      return [{ check, ok: false, detail }];
    }
  } catch (error) {
    // The checks of the settings report what is wrong in the environment.
    if (error instanceof UsageError) throw error;
    return [];
  }
}

/** Checks whether the server could start with this store. Returns nothing while a server uses the folder. */
async function checkStore(settings: Settings): Promise<Finding[]> {
  const { dataFolder, store } = settings;
  const check = 'store';
  if (store.kind === 'postgres') {
    const detail = `${shownUrl(store.url)}, schema ${store.schema}; there is no local mode, every request needs a credential`;
    return [{ check, ok: true, detail }];
  }
  try {
    if (!holdsStore(dataFolder))
      return [{ check, ok: true, detail: `created in ${dataFolder} at the first start of the server` }];
    return await withReadOnlyStore(dataFolder, async (store) => {
      const file = storeFileIn(dataFolder);
      const problem = store.loss === null ? null : lossRefusal(file, store.loss).message;
      const keys = keysFinding(settings, (await keysIn(store)).length, await hasLocalModeEnded(store));
      return [{ check, ok: problem === null, detail: problem ?? file }, keys];
    });
  } catch (error) {
    if (error instanceof PatchboardError && error.code === 'data_folder_in_use') return [];
    return [{ check, ok: false, detail: messageOf(error) }];
  }
}

function keysFinding(settings: Settings, keys: number, hasEnded: boolean): Finding {
  const { dataFolder, host, isProduction, trustProxy, jwt } = settings;
  const mayBeLocal = jwt === null && isLoopback(host) && !isProduction && !trustProxy;
  const isLocal = mayBeLocal && keys === 0 && !hasEnded;
  const why =
    mayBeLocal && keys === 0 && hasEnded ? ': keys existed before (patchboard data allow-local-mode)' : '';
  const detail = `${keys} in ${dataFolder}; a server started here ${isLocal ? 'is' : 'is not'} in local mode${why}`;
  return { check: 'keys', ok: true, detail };
}

/** The settings were resolved, so the variables and files that they need exist. */
function configuredUpstreams({ upstreams }: Settings): Finding[] {
  const names = allUpstreams(upstreams).map(({ name }) => name);
  if (names.length === 0) return [];
  return [{ check: 'upstreams', ok: true, detail: `configured: ${names.join(', ')}` }];
}

/** Tests the sandbox on this machine. */
async function checkSandbox({ workspace, dataFolder }: Settings): Promise<Finding> {
  const check = 'sandbox';
  // Loaded on demand: the module includes the programs that run in the sandbox.
  const { probeSandbox } = await import('../../wiring/sandbox-setup.ts');
  const { report } = await probeSandbox(workspace, join(dataFolder, 'sandbox'));
  if (report.problem !== null)
    return { check, ok: false, detail: `none, so commands and writes are off: ${report.problem}` };
  const passed = report.canary.map((one) => one.check).join(', ');
  return { check, ok: true, detail: `${report.provider}, passed the checks: ${passed}` };
}

/** Reports the sandbox of the running server. */
function checkServerSandbox(sandbox: unknown): Finding[] {
  if (typeof sandbox !== 'object' || sandbox === null) return [];
  const { provider, off } = sandbox as { provider?: unknown; off?: unknown };
  const check = 'enclosed by';
  if (provider !== 'none') return [{ check, ok: true, detail: String(provider) }];
  const state =
    off === true
      ? 'are off'
      : "run as the server's user, with its files and the network, and each requires approval";
  return [{ check, ok: false, detail: `nothing, so commands and writes of the server ${state}` }];
}

/** A server that is not running is not a failed check; the finding says how to start it. */
async function checkServer(context: CliContext, options: ServerOptions): Promise<Finding[]> {
  const { url, profile } = await connectionOf(context.environment, options);
  const check = 'server';
  const name = profile === null ? url : `${url} (profile ${profile})`;
  const response = await healthOf(url);
  if (response === null) {
    const advice = profile === null ? '; start it with: patchboard serve' : '';
    return [{ check, ok: true, detail: `${name} is not reachable${advice}` }];
  }
  const { status, body } = response;
  if (!isRecord(body) || typeof body['version'] !== 'string')
    return [{ check, ok: false, detail: `${name} responds with HTTP ${status}, not as a Patchboard server` }];
  return [
    { check, ok: status === 200, detail: `${name} is running, version ${body['version']}` },
    await checkLocalMode(url),
    ...checkServerSandbox(body['sandbox']),
    ...(await checkAsOperator(context, options)),
  ];
}

/** Null: nothing responds. `body` is undefined if it is not JSON. */
async function healthOf(url: string): Promise<{ readonly status: number; readonly body: unknown } | null> {
  let text: string;
  let status: number;
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(3000) });
    status = response.status;
    text = await response.text();
  } catch {
    return null;
  }
  try {
    return { status, body: JSON.parse(text) as unknown };
  } catch {
    return { status, body: undefined };
  }
}

/** A credential that cannot be read, such as that of a profile, is a failed check of its own: the server runs. */
async function checkAsOperator(context: CliContext, options: ServerOptions): Promise<Finding[]> {
  try {
    return [...(await checkUpstreams(context, options)), ...(await nodeFindings(context, options))];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [{ check: 'credential', ok: false, detail: error.message }];
  }
}

/** Reports each upstream of the running server. */
async function checkUpstreams(context: CliContext, options: ServerOptions): Promise<Finding[]> {
  const check = 'upstream';
  try {
    const upstreams = await asOperator(context, options, (client) => client.upstreams());
    return upstreams.map((upstream) => ({
      check,
      ok: upstream.state === 'connected' || upstream.state === 'connecting',
      detail: upstreamText(upstream),
    }));
  } catch (error) {
    if (!(error instanceof PatchboardError)) throw error;
    return [{ check, ok: true, detail: `not shown: ${error.detail}` }];
  }
}

function upstreamText({
  name,
  kind,
  state,
  address,
  tools,
  rejected,
  last_error: lastError,
}: UpstreamView): string {
  const changed = tools.filter(({ change }) => change !== undefined).length;
  const facts = [
    `${name} (${address}) is ${state}`,
    `${tools.length} tools`,
    ...(rejected.length === 0 ? [] : [`${rejected.length} rejected`]),
    ...(changed === 0 ? [] : [`${changed} changed: patchboard ${kind} accept ${name}`]),
    ...(state === 'connected' || lastError === null ? [] : [lastError.message]),
    ...(state === 'failed' ? [`patchboard ${kind} restart ${name}`] : []),
  ];
  return printable(facts.join('; '));
}

async function checkLocalMode(url: string): Promise<Finding> {
  const check = 'local mode';
  switch (await isLocalMode(url)) {
    case true:
      return { check, ok: true, detail: 'on: requests from this machine need no credential' };
    case false:
      return { check, ok: true, detail: 'off: requests need a credential (PATCHBOARD_KEY)' };
    case null:
      return { check, ok: false, detail: 'unknown: the request to the server failed' };
  }
}
