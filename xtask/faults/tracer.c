/* Runs a program and makes one of its system calls fail, or do a part of what it was asked.
 *
 *   tracer list FILE -- PROGRAM…                  writes each place that calls: call, site, how often, what
 *   tracer fail FILE NR SITE NTH ERROR -- PROGRAM… the NTH call of that place fails with that errno; 0: it is cut short
 *
 * What: 's' a socket, 'p' a pipe, 'a' what has no file (eventfd, timerfd, epoll), 'd' a device, 'f' any other file, '-' none.
 * A site is a hash of the addresses that the call returns to inside of the program's own file; its memory layout is not
 * randomised, so it is the same in each run; 0: a call of the loader or of a library alone. FILE gets 'hit' lines for what was done, then 'exit CODE' or 'signal NUMBER'.
 * Processes that the program starts are followed, too; FILE tells of the first. Calls that no test may fail (exit, munmap, futex…) are not stopped at. x86-64.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(list) (sizeof(list) / sizeof(list)[0])
#define FRAMES 4

static const long CALLS[] = {
	SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_openat, SYS_open, SYS_fstat, SYS_stat,
	SYS_statx, SYS_newfstatat, SYS_mmap, SYS_mprotect, SYS_socket, SYS_connect, SYS_accept4, SYS_sendto, SYS_recvfrom,
	SYS_sendmsg, SYS_recvmsg, SYS_sendmmsg, SYS_shutdown, SYS_bind, SYS_listen, SYS_getsockname, SYS_getpeername,
	SYS_setsockopt, SYS_getsockopt, SYS_socketpair, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_wait, SYS_epoll_pwait,
	SYS_epoll_pwait2, SYS_eventfd2, SYS_timerfd_create, SYS_timerfd_settime, SYS_timer_create, SYS_pipe2, SYS_fcntl,
	SYS_ioctl, SYS_clone3, SYS_clone, SYS_getrandom, SYS_fsync, SYS_fdatasync, SYS_ftruncate, SYS_rename, SYS_renameat,
	SYS_renameat2, SYS_unlink, SYS_unlinkat, SYS_mkdir, SYS_mkdirat, SYS_getdents64, SYS_lseek, SYS_dup, SYS_dup2,
	SYS_dup3, SYS_prlimit64, SYS_sched_getaffinity, SYS_poll, SYS_ppoll, SYS_readlink, SYS_getcwd, SYS_clock_nanosleep,
	SYS_sigaltstack, SYS_memfd_create, SYS_copy_file_range, SYS_sendfile, SYS_splice, SYS_fallocate, SYS_uname,
	SYS_sysinfo, SYS_access, SYS_faccessat2, SYS_flock, SYS_link, SYS_linkat, SYS_chmod, SYS_fchmod, SYS_statfs,
};

struct site { long call; uint64_t hash; long times; char what; };
static struct site sites[16384];
static size_t known;

static uint64_t text_from, text_to;

static void die(const char *what) { perror(what); exit(2); }

/* Where the program's own code lies; 0 until it has been mapped. */
static void find_text(pid_t pid) {
	char path[64], exe[4096], line[8192];
	snprintf(path, sizeof path, "/proc/%d/exe", pid);
	ssize_t length = readlink(path, exe, sizeof exe - 1);
	if (length < 0) return;
	exe[length] = 0;
	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	FILE *maps = fopen(path, "r");
	if (!maps) return;
	while (fgets(line, sizeof line, maps)) {
		unsigned long from, to;
		char rights[8];
		if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3 && rights[2] == 'x' && strstr(line, exe)) {
			if (!text_from) text_from = from;
			text_to = to;
		}
	}
	fclose(maps);
}

static int peek(pid_t pid, uint64_t at, void *into, size_t length) {
	struct iovec here = { into, length }, there = { (void *)at, length };
	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)length;
}

/* Whether a call instruction ends here. */
static int follows_call(pid_t pid, uint64_t at) {
	unsigned char code[7];
	if (!peek(pid, at - 7, code, 7)) return 0;
	if (code[2] == 0xe8) return 1;
	return (code[5] == 0xff && (code[6] & 0x38) == 0x10) || (code[4] == 0xff && (code[5] & 0x38) == 0x10) ||
		(code[1] == 0xff && (code[2] & 0x38) == 0x10);
}

static uint64_t site_of(pid_t pid, const struct user_regs_struct *registers) {
	uint64_t stack[512], hash = 14695981039346656037ull ^ registers->orig_rax;
	size_t words = COUNT(stack);
	while (words > 16 && !peek(pid, registers->rsp, stack, words * 8)) words /= 2;
	int found = 0;
	for (size_t i = 0; i < words && found < FRAMES; i++) {
		if (stack[i] < text_from || stack[i] >= text_to || !follows_call(pid, stack[i])) continue;
		hash = (hash ^ (stack[i] - text_from)) * 1099511628211ull;
		found++;
	}
	return found ? hash : 0;
}

/* What the descriptor in the first argument is. */
static char kind_of(pid_t pid, const struct user_regs_struct *registers) {
	char path[64], name[256];
	snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, (int)registers->rdi);
	ssize_t length = readlink(path, name, sizeof name - 1);
	if (length < 0) return '-';
	name[length] = 0;
	if (!strncmp(name, "socket:", 7)) return 's';
	if (!strncmp(name, "pipe:", 5)) return 'p';
	if (!strncmp(name, "anon_inode:", 11)) return 'a';
	return strncmp(name, "/dev/", 5) ? 'f' : 'd';
}

static struct site *look_up(long call, uint64_t hash, char what) {
	for (size_t i = 0; i < known; i++)
		if (sites[i].hash == hash && sites[i].call == call && sites[i].what == what) return &sites[i];
	if (known == COUNT(sites)) die("too many sites");
	sites[known] = (struct site){ call, hash, 0, what };
	return &sites[known++];
}

static void filter(void) {
	struct sock_filter program[COUNT(CALLS) + 3];
	size_t at = 0;
	program[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < COUNT(CALLS); i++)
		program[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)CALLS[i], COUNT(CALLS) - i, 0);
	program[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	struct sock_fprog whole = { at, program };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole)) die("seccomp");
}

/* Words of the tracee that were changed for the time of one call. */
static struct { uint64_t at, was; } changed[2];
static int changes;

static void poke(pid_t pid, uint64_t at, uint64_t value) {
	changed[changes].at = at;
	errno = 0;
	changed[changes].was = (uint64_t)ptrace(PTRACE_PEEKDATA, pid, at, 0);
	if (errno) return;
	changes++;
	ptrace(PTRACE_POKEDATA, pid, at, value);
}

/* Has the call move one byte; whether that can be. */
static int cut_short(pid_t pid, struct user_regs_struct *registers) {
	uint64_t vector = 0, count = 0, header = 0;
	switch (registers->orig_rax) {
	case SYS_read: case SYS_write: case SYS_pread64: case SYS_pwrite64: case SYS_sendto: case SYS_recvfrom:
		if (registers->rdx < 2) return 0;
		registers->rdx = 1;
		return 1;
	case SYS_readv: case SYS_writev:
		vector = registers->rsi;
		count = registers->rdx;
		registers->rdx = 1;
		break;
	case SYS_sendmsg: case SYS_recvmsg:
		header = registers->rsi;
		if (!peek(pid, header + offsetof(struct msghdr, msg_iov), &vector, 8)) return 0;
		if (!peek(pid, header + offsetof(struct msghdr, msg_iovlen), &count, 8)) return 0;
		break;
	default: return 0;
	}
	struct iovec first;
	if (count < 1 || !peek(pid, vector, &first, sizeof first) || first.iov_len < 2) return 0;
	if (header) poke(pid, header + offsetof(struct msghdr, msg_iovlen), 1);
	poke(pid, vector + offsetof(struct iovec, iov_len), 1);
	return 1;
}

int main(int argc, char **argv) {
	int fails = argc > 2 && !strcmp(argv[1], "fail");
	int words = fails ? 7 : 3;
	if (argc <= words + 1 || strcmp(argv[words], "--")) {
		fprintf(stderr, "usage: tracer list FILE -- PROGRAM… | tracer fail FILE NR SITE NTH ERROR -- PROGRAM…\n");
		return 2;
	}
	FILE *out = fopen(argv[2], "w");
	if (!out) die(argv[2]);
	long wanted_call = fails ? atol(argv[3]) : -1, nth = fails ? atol(argv[5]) : 0, error = fails ? atol(argv[6]) : 0;
	uint64_t wanted = fails ? strtoull(argv[4], 0, 16) : 0;

	pid_t child = fork();
	if (child < 0) die("fork");
	if (!child) {
		fclose(out);
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		filter();
		execv(argv[words + 1], argv + words + 1);
		_exit(127);
	}
	int status;
	waitpid(child, &status, 0);
	ptrace(PTRACE_SETOPTIONS, child, 0,
		PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
			PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
	ptrace(PTRACE_CONT, child, 0, 0);
	long seen = 0;
	pid_t pending = 0;
	for (;;) {
		pid_t pid = waitpid(-1, &status, __WALL);
		if (pid < 0) break;
		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			if (pid != child) continue;
			if (!fails)
				for (size_t i = 0; i < known; i++)
					fprintf(out, "site %ld %llx %ld %c\n", sites[i].call, (unsigned long long)sites[i].hash, sites[i].times,
						sites[i].what);
			if (WIFEXITED(status)) fprintf(out, "exit %d\n", WEXITSTATUS(status));
			else fprintf(out, "signal %d\n", WTERMSIG(status));
			fclose(out);
			return 0;
		}
		if (!WIFSTOPPED(status)) continue;
		int signal = WSTOPSIG(status), event = status >> 16;
		struct user_regs_struct registers;
		if (event == PTRACE_EVENT_EXEC) {
			find_text(pid);
		} else if (event == PTRACE_EVENT_SECCOMP && text_from && !ptrace(PTRACE_GETREGS, pid, 0, &registers)) {
			/* When the fault is done, places need not be told apart any more. */
			if (fails && (seen >= nth || (long)registers.orig_rax != wanted_call)) {
				ptrace(PTRACE_CONT, pid, 0, 0);
				continue;
			}
			uint64_t hash = site_of(pid, &registers);
			if (!fails) {
				look_up((long)registers.orig_rax, hash, kind_of(pid, &registers))->times++;
			} else if (hash == wanted && ++seen == nth) {
				if (error) {
					registers.orig_rax = (unsigned long long)-1;
					registers.rax = (unsigned long long)-error;
					ptrace(PTRACE_SETREGS, pid, 0, &registers);
					fprintf(out, "hit\n");
				} else if (cut_short(pid, &registers)) {
					ptrace(PTRACE_SETREGS, pid, 0, &registers);
					fprintf(out, "hit\n");
					if (changes) {
						pending = pid;
						ptrace(PTRACE_SYSCALL, pid, 0, 0);
						continue;
					}
				}
			}
		} else if (signal == (SIGTRAP | 0x80)) {
			if (pid == pending) {
				while (changes > 0) {
					changes--;
					ptrace(PTRACE_POKEDATA, pid, changed[changes].at, changed[changes].was);
				}
				pending = 0;
			}
		} else if (!event && signal != SIGSTOP && signal != SIGTRAP) {
			ptrace(PTRACE_CONT, pid, 0, signal);
			continue;
		}
		ptrace(PTRACE_CONT, pid, 0, 0);
	}
	return 2;
}
