// Signatures as AWS's documentation computes them: the test suite of version 4 and the examples of S3. Presigned as k6's file.
import { AWSConfig, Endpoint, SignatureV4 } from 'https://jslib.k6.io/aws/0.14.0/signature.js';
import { SignatureV4 as Older } from 'https://jslib.k6.io/aws/0.13.0/signature.js';
import { is, messageOf } from '../../../../../tests/lib/assert.js';

export const options = { thresholds: { checks: ['rate==1'] } };

const suite = new SignatureV4({
  service: 'service',
  region: 'us-east-1',
  credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' },
  applyChecksum: false,
});
const then = { signingDate: new Date('2015-08-30T12:36:00Z') };
const s3 = new SignatureV4({
  service: 's3',
  region: 'us-east-1',
  credentials: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
  uriEscapePath: false,
});
const day = { signingDate: new Date('2013-05-24T00:00:00Z') };
const signature = (signed) => /Signature=([0-9a-f]*)$/.exec(signed.headers.authorization)[1];

const at = (path, more = {}) => ({ method: 'GET', endpoint: new Endpoint('https://example.amazonaws.com'), path, headers: {}, ...more });
const object = (path, more = {}) => at(path, { endpoint: new Endpoint('examplebucket.s3.amazonaws.com'), ...more });

export default function () {
  const vanilla = suite.sign(at('/'), then);
  is('get-vanilla', vanilla.headers.authorization, 'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, '
    + 'SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31');
  is('its address', vanilla.url, 'https://example.amazonaws.com/');
  for (const path of ['/example/..', '/./', '//', '/example1/example2/../..', '/./.']) {
    is(`the path ${path}`, signature(suite.sign(at(path), then)), '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31');
  }
  is('get-slash-pointless-dot', signature(suite.sign(at('/./example'), then)), 'ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5');
  is('get-space', signature(suite.sign(at('/example space/'), then)), '652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741');
  const query = suite.sign(at('/', { query: { Param2: 'value2', Param1: 'value1' } }), then);
  is('get-vanilla-query-order-key-case', signature(query), 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500');
  is('the address of a query', query.url, 'https://example.amazonaws.com/?Param1=value1&Param2=value2');

  is('S3, GET', signature(s3.sign(object('/test.txt', { headers: { Range: 'bytes=0-9' } }), day)), 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41');
  is('S3, lifecycle', signature(s3.sign(object('/', { query: { lifecycle: '' } }), day)), 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543');
  is('S3, list', signature(s3.sign(object('/', { query: { 'max-keys': '2', prefix: 'J' } }), day)), '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7');
  const presigned = (signer) => signer.presign(object('/test.txt'), { ...day, expiresIn: 86400 }).url;
  is('S3, presigned', presigned(s3), 'https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential='
    + 'AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-Signature='
    + '2f96f106e896a51445dbd699bd79337027afef2fd1d841506882218daeaf9b3c&X-Amz-SignedHeaders=host');
  is('as 0.13.0 joins it', presigned(new Older({ ...s3 })).slice(0, 50), 'https://examplebucket.s3.amazonaws.com//test.txt?X');
  is('a date in seconds', suite.sign(at('/'), { signingDate: 1440938160 }).headers['x-amz-date'], '20150830T123600Z');

  const key = (length) => 'K'.repeat(length);
  const config = (accessKeyId, more) => new AWSConfig({ region: 'eu-west-1', accessKeyId, secretAccessKey: 'b', ...more });
  is('an endpoint', config(key(16), { endpoint: 'http://localhost:4566' }).endpoint.host, 'localhost:4566');
  is('no key', messageOf(() => new AWSConfig({ region: 'eu-west-1' })), 'invalid AWS access key ID: found undefined, expected a text');
  is('a short key', messageOf(() => config(key(15))), 'invalid AWS access key ID: found 15, expected 16 to 128 characters');
  is('a long key', messageOf(() => config(key(129), { sessionToken: 't' })), 'invalid AWS access key ID: found 129, expected 16 to 128 characters');
  is('too long', messageOf(() => s3.presign(object('/'), { expiresIn: 604801 })), 'expiresIn: found 604801, expected at most 604800 seconds, which is seven days');
}
