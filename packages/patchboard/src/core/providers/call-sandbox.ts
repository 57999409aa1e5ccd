import type { Sandbox } from '../sandbox.ts';

/**
 * The sandbox of a run as one call sees it: commands that the call waits for, searches and waits for output end with the
 * call, also if the tool passes no signal on.
 */
export function callSandbox(sandbox: Sandbox, callSignal: AbortSignal): Sandbox {
  const either = (signal: AbortSignal = callSignal): AbortSignal =>
    signal === callSignal ? signal : AbortSignal.any([callSignal, signal]);
  const { files } = sandbox;
  return {
    provider: sandbox.provider,
    root: sandbox.root,
    exec: (command, options = {}) => sandbox.exec(command, { ...options, signal: either(options.signal) }),
    execBackground: (command, options) => sandbox.execBackground(command, options),
    logs: (jobId, options = {}) => sandbox.logs(jobId, { ...options, signal: either(options.signal) }),
    kill: (jobId) => sandbox.kill(jobId),
    readFile: (path) => sandbox.readFile(path),
    writeFile: (path, content) => sandbox.writeFile(path, content),
    list: (path) => sandbox.list(path),
    files: {
      read: (path, options) => files.read(path, options),
      replace: (changes) => files.replace(changes),
      glob: (query, signal) => files.glob(query, either(signal)),
      grep: (query, signal) => files.grep(query, either(signal)),
    },
  };
}
