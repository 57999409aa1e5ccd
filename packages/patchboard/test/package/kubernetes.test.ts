import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { resolveSettings } from '../../src/settings/settings.ts';
import { blocksOf, codeSpansOf, tablesOf } from '../readme/markdown.ts';
import { aSchema, sharedPostgres } from '../services/shared-postgres.ts';
import { aFolder } from '../support/a-folder.ts';
import { startCommand } from '../support/run-command.ts';
import { CLI, cleanEnvironment, ROOT } from '../support/server-process.ts';

interface Probe {
  readonly httpGet: {
    readonly path: string;
    readonly httpHeaders: readonly { readonly name: string; readonly value: string }[];
  };
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

interface Container {
  readonly env: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
  }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly startupProbe: Probe;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Manifest {
  readonly kind: string;
  readonly apiVersion: string;
  readonly data: Readonly<Record<string, string>>;
  readonly spec: {
    readonly selector: Readonly<Record<string, unknown>>;
    readonly strategy: unknown;
    readonly ports: readonly { readonly targetPort: string }[];
    readonly template: {
      readonly metadata: { readonly labels: unknown };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: { readonly runAsUser: number };
        readonly containers: readonly [Container];
        readonly volumes: readonly { readonly name: string }[];
      };
    };
  };
}

const FILE = 'deploy/kubernetes/patchboard.yaml';
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const MANIFESTS = parseAllDocuments(read(FILE)).map((document) => document.toJS() as Manifest);

/** The types of Kubernetes 1.30, made from its published OpenAPI description, by kind. */
const TYPES: Readonly<Record<string, string>> = {
  'v1 ConfigMap': 'core/v1',
  'v1 Service': 'core/v1',
  'apps/v1 Deployment': 'apps/v1',
  'policy/v1 PodDisruptionBudget': 'policy/v1',
  'networking.k8s.io/v1 NetworkPolicy': 'networking/v1',
};

/** What the compiler says about an object of that type: unknown fields, missing ones, wrong types. */
function problemsOf(manifests: readonly Manifest[]): string[] {
  const lines = manifests.map((manifest, index) => {
    const { apiVersion, kind } = manifest;
    const file = TYPES[`${apiVersion} ${kind}`];
    if (file === undefined) return `${kind}: unknown`;
    return `export const m${index}: import('kubernetes-types/${file}').${kind} = ${JSON.stringify(manifest)};`;
  });
  const path = join(ROOT, 'packages', 'patchboard', 'manifests.ts');
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.Preserve,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    strict: true,
    noEmit: true,
    types: [],
    lib: ['lib.es5.d.ts'],
    skipLibCheck: true,
  };
  const host = ts.createCompilerHost(options);
  const text = `${lines.join('\n')}\n`;
  host.readFile = (name) => (name === path ? text : ts.sys.readFile(name));
  host.fileExists = (name) => name === path || ts.sys.fileExists(name);
  return ts
    .getPreEmitDiagnostics(ts.createProgram([path], options, host))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

function oneOf(kind: string): Manifest {
  const found = MANIFESTS.find((manifest) => manifest.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}`);
  return found;
}

/** The manifest in the guide for more than one node. */
function policyOfGuide(): Manifest {
  const blocks = blocksOf(read('docs/guides/more-than-one-node.md'));
  return parse(blocks.find(({ mark }) => mark === 'kubernetes')?.code ?? '') as Manifest;
}

describe(FILE, () => {
  const { spec } = oneOf('Deployment');
  const pod = spec.template.spec;
  const [container] = pod.containers;
  const config = oneOf('ConfigMap').data['patchboard.yaml'] ?? '';

  it('has the fields and types of the Kubernetes API', () => {
    const text = JSON.stringify(oneOf('Deployment')).replace('"readinessProbe"', '"readynessProbe"');
    const misspelt = JSON.parse(text) as Manifest;
    expect(problemsOf([...MANIFESTS, policyOfGuide(), misspelt])).toEqual([
      `Object literal may only specify known properties, and '"readynessProbe"' does not exist in type 'Container'.`,
    ]);
  });

  it('starts nodes with settings that the server accepts, and secrets from a secret', () => {
    const given = Object.fromEntries(
      container.env.map(({ name, value, valueFrom }) => [
        name,
        value ?? `postgres://from-the-secret-${valueFrom?.secretKeyRef.key}/patchboard`,
      ]),
    );
    const { PATCHBOARD_CONFIG: file, ...environment } = given;
    const folders = container.volumeMounts.map(({ mountPath }) => mountPath);
    expect(folders.some((folder) => file?.startsWith(`${folder}/`))).toBe(true);
    expect(folders.some((folder) => environment['PATCHBOARD_DATA']?.startsWith(`${folder}/`))).toBe(true);
    const settings = resolveSettings(environment, {});
    expect(settings).toMatchObject({ host: '0.0.0.0', store: { kind: 'postgres' } });
    expect(container.ports).toEqual([{ name: 'http', containerPort: settings.port }]);
    const secrets = container.env.flatMap(({ name, valueFrom }) => (valueFrom === undefined ? [] : [name]));
    expect(secrets).toEqual(['DATABASE_URL', 'PATCHBOARD_OPERATOR_TOKEN']);
    const [table = []] = tablesOf(read('docs/configuration.md')).filter(([head]) => head?.[0] === 'variable');
    const known = table.map(([name = '']) => codeSpansOf(name)[0]);
    expect(container.env.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
  });

  it('probes readiness and liveness under a name that the nodes accept', () => {
    const { http } = parse(config) as { readonly http: { readonly allowed_hosts: readonly string[] } };
    const probes = [container.readinessProbe, container.livenessProbe, container.startupProbe];
    expect(probes.map(({ httpGet }) => httpGet.path)).toEqual(['/readyz', '/healthz', '/healthz']);
    for (const { httpGet } of probes) {
      expect(httpGet.httpHeaders.map(({ name }) => name)).toEqual(['Host']);
      expect(http.allowed_hosts).toContain(httpGet.httpHeaders[0]?.value);
    }
  });

  it('takes no node away before another is ready, and gives one that leaves enough time', () => {
    expect(spec.strategy).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: 0, maxSurge: 1 },
    });
    const { drainDelayMs, limits } = resolveSettings({}, {});
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(drainDelayMs + limits.drainMs + 10_000);
    const { periodSeconds, failureThreshold } = container.readinessProbe;
    expect(periodSeconds * failureThreshold * 1000).toBeLessThan(drainDelayMs);
  });

  it('selects the pods of the deployment, and runs as the user of the image', () => {
    const { labels } = spec.template.metadata;
    expect(spec.selector).toEqual({ matchLabels: labels });
    expect(oneOf('Service').spec.selector).toEqual(labels);
    expect(oneOf('Service').spec.ports[0]?.targetPort).toBe(container.ports[0]?.name);
    expect(oneOf('PodDisruptionBudget').spec.selector).toEqual({ matchLabels: labels });
    expect(policyOfGuide().spec).toMatchObject({
      podSelector: { matchLabels: labels },
      ingress: [{ ports: [{ port: container.ports[0]?.name }] }],
    });
    // `node` of the base image.
    expect(read('Dockerfile')).toContain('USER node');
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(container).toMatchObject({ securityContext: { readOnlyRootFilesystem: true } });
    const volumes = pod.volumes.map(({ name }) => name);
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(volumes);
  });

  // bubblewrap is for Linux only.
  it.runIf(process.platform === 'linux')(
    'describes nodes that run with a read-only file system and pass the probes',
    async () => {
      const service = await sharedPostgres(15);
      const folder = await aFolder();
      for (const name of ['data', 'tmp']) await mkdir(join(folder, name));
      // A volume of Kubernetes is open to all.
      await chmod(join(folder, 'data'), 0o777);
      const file = join(folder, 'patchboard.yaml');
      await writeFile(file, `${config}\nstore: { schema: ${aSchema(service)} }\n`);
      const values = container.env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]));
      const data = container.env.find(({ name }) => name === 'PATCHBOARD_DATA')?.value ?? '';
      const server = startCommand(
        'bash',
        [
          '-c',
          'exec bwrap --ro-bind / / --dev /dev --bind "$PWD" "$PWD" --unshare-user --uid "$0" --die-with-parent "$@"',
          String(pod.securityContext.runAsUser),
          process.execPath,
          CLI,
          'serve',
        ],
        {
          cwd: folder,
          env: {
            ...cleanEnvironment(),
            ...Object.fromEntries(values),
            PORT: '0',
            TMPDIR: join(folder, 'tmp'),
            PATCHBOARD_CONFIG: file,
            PATCHBOARD_DATA: join(folder, data),
            DATABASE_URL: service.url,
            PATCHBOARD_OPERATOR_TOKEN: 't'.repeat(32),
          },
        },
      );
      onTestFinished(async () => void (await server.stop()));
      const port = /:(\d+) /.exec(await server.says(/ready at .*\n/))?.[1] ?? '';
      for (const { httpGet } of [container.readinessProbe, container.livenessProbe]) {
        const headers = Object.fromEntries(httpGet.httpHeaders.map(({ name, value }) => [name, value]));
        expect(await statusOf(port, httpGet.path, headers)).toBe(200);
        expect(await statusOf(port, httpGet.path, { Host: 'another' })).toBe(421);
      }
    },
  );
});

async function statusOf(
  port: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const sent = request({ host: '127.0.0.1', port, path, headers }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
}
