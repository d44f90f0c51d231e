//! When the kernel handed the last byte of what was written to the network: its transmit stamps.
//!
//! They come on the socket's error queue, and each costs the kernel a packet's head, so they are asked for one request
//! at a time. A stamp carries the offset of the last byte that it stands for, counted from the moment it was asked for
//! (SOF_TIMESTAMPING_OPT_ID on a stream): the highest one is that of the request's last byte.
#![allow(unsafe_code)]

use std::mem::{self, MaybeUninit};
use std::os::fd::RawFd;
use std::ptr;

/// Has the kernel stamp what leaves this stream socket from now on, or no longer; whether it will.
pub(super) fn ask_for_departures(fd: RawFd, on: bool) -> bool {
    let wanted = libc::SOF_TIMESTAMPING_TX_SOFTWARE
        | libc::SOF_TIMESTAMPING_SOFTWARE
        | libc::SOF_TIMESTAMPING_OPT_ID
        | libc::SOF_TIMESTAMPING_OPT_TSONLY;
    let value: libc::c_uint = if on { wanted } else { 0 };
    // SAFETY: the option's value is a live `c_uint` whose size is passed beside it.
    let result = unsafe {
        let size = mem::size_of_val(&value) as libc::socklen_t;
        libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, ptr::from_ref(&value).cast(), size)
    };
    result == 0
}

/// Room for a stamp (three timespecs) and the error that says whose it is, with an address behind.
#[repr(C, align(8))]
struct StampRoom([u8; 256]);

/// Empties the error queue: the stamp with the highest offset, in nanoseconds of the wall clock.
pub(super) fn departed_ns(fd: RawFd) -> Option<u64> {
    let mut last: Option<(u32, u64)> = None;
    while let Some(stamp) = next_stamp(fd) {
        last = last.max(stamp);
    }
    last.map(|(_, ns)| ns)
}

/// One message of the error queue; `None` when it is empty, `Some(None)` when it was no stamp.
fn next_stamp(fd: RawFd) -> Option<Option<(u32, u64)>> {
    let mut control = MaybeUninit::<StampRoom>::uninit();
    // SAFETY: the header points at no data and at the control area, which is writable and alive while `header` is used;
    // zero is valid for its other fields. The CMSG macros stay inside of msg_controllen, and what they lead to is read
    // unaligned after its length was checked.
    unsafe {
        let mut header: libc::msghdr = mem::zeroed();
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = mem::size_of::<StampRoom>() as _;
        if libc::recvmsg(fd, &raw mut header, libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT) < 0 {
            return None;
        }
        let (mut offset, mut ns) = (None, None);
        let mut message = libc::CMSG_FIRSTHDR(&raw const header);
        while !message.is_null() {
            let found = &*message;
            let has = |size: usize| found.cmsg_len as usize >= libc::CMSG_LEN(size as u32) as usize;
            let data = libc::CMSG_DATA(message);
            match (found.cmsg_level, found.cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) if has(mem::size_of::<libc::timespec>()) => {
                    let at: libc::timespec = ptr::read_unaligned(data.cast());
                    ns = (at.tv_sec > 0).then(|| at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64);
                }
                (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR)
                    if has(mem::size_of::<libc::sock_extended_err>()) =>
                {
                    let error: libc::sock_extended_err = ptr::read_unaligned(data.cast());
                    offset = (error.ee_origin == libc::SO_EE_ORIGIN_TIMESTAMPING).then_some(error.ee_data);
                }
                _ => {}
            }
            message = libc::CMSG_NXTHDR(&raw const header, message);
        }
        Some(offset.zip(ns))
    }
}
