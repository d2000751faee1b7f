// An OpenID Connect provider on a free port of the loopback: `node provider.mjs FOLDER`, where
// FOLDER has `node_modules/oidc-provider`. It prints its issuer. People sign in with any name and
// password; access tokens for the resource `https://models.example.com/` are JSON Web Tokens. The
// client `console` is the pages of a gateway on any port; the claims of its people are at userinfo.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.argv[2]}/`);
const { default: Provider } = await import(pathToFileURL(require.resolve('oidc-provider')).href);

const server = createServer();
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;
const groups = { ada: ['models-users', 'search'], nightly: ['models-users', 'search'] };

const provider = new Provider(issuer, {
  clients: [
    { client_id: 'nightly', client_secret: 'secret', redirect_uris: [], response_types: [],
      grant_types: ['client_credentials'] },
    { client_id: 'terminal', redirect_uris: ['http://127.0.0.1:1/callback'],
      application_type: 'native', token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code'] },
    { client_id: 'console', client_secret: 'secret of the console', application_type: 'native',
      redirect_uris: ['http://127.0.0.1:1/console/sign-in/callback'],
      grant_types: ['authorization_code'] },
  ],
  claims: { openid: ['sub'], profile: ['groups'] },
  cookies: { keys: ['tests only'] },
  extraTokenClaims: (context, token) => ({ groups: groups[token.accountId ?? token.clientId] }),
  findAccount: (context, id) => ({ accountId: id, claims: () => ({ sub: id, groups: groups[id] }) }),
  features: {
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: (context, client) =>
        client.clientId === 'console' ? undefined : 'https://models.example.com/',
      useGrantedResource: () => true,
      getResourceServerInfo: (context, resource) => ({
        audience: resource, scope: 'models', accessTokenFormat: 'jwt', accessTokenTTL: 300,
      }),
    },
  },
});
const onAnyPort = (path) => (uri) => new RegExp(`^http://127.0.0.1:\\d+/${path}$`).test(uri);
provider.Client.prototype.redirectUriAllowed = onAnyPort('(console/sign-in/)?callback');
provider.Client.prototype.postLogoutRedirectUriAllowed = onAnyPort('');
server.on('request', provider.callback());
console.log(issuer);
