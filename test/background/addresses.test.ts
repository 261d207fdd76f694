import { describe, expect, it } from 'vitest'
import { isOwnHost, isPublicAddress } from '../../src/background/webhooks/addresses.ts'

describe('an address', () => {
  it.each([
    ['8.8.8.8', true],
    ['2606:4700::1111', true],
    ['::ffff:8.8.8.8', true],
    ['64:ff9b::808:808', true],
    ['10.1.2.3', false],
    ['100.64.0.1', false],
    ['127.9.9.9', false],
    ['169.254.169.254', false],
    ['172.31.255.255', false],
    ['172.32.0.1', true],
    ['192.168.0.1', false],
    ['0.0.0.0', false],
    ['224.0.0.1', false],
    ['255.255.255.255', false],
    ['::', false],
    ['::1', false],
    ['::ffff:10.0.0.1', false],
    ['::7f00:1', false],
    ['64:ff9b::7f00:1', false],
    ['2002:7f00:1::', false],
    ['2001::1', false],
    ['2001:db8::1', false],
    ['fc00::1', false],
    ['fe80::1', false],
    ['fe80::1%eth0', false],
    ['ff02::1', false],
    ['no address', false],
  ])('%s is public: %s', (address, isPublic) => {
    expect(isPublicAddress(address)).toBe(isPublic)
  })

  it.each([
    'localhost',
    'app.localhost',
    'printer.local',
    'db.internal',
    'intranet',
    '[::1]',
    '10.0.0.1',
  ])('%s is a host of the own network', (host) => {
    expect(isOwnHost(host)).toBe(true)
    expect(isOwnHost('example.com')).toBe(false)
  })
})
