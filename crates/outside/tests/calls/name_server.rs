//! A scripted name server on loopback.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hickory_resolver::proto::op::{Message, OpCode, Query, ResponseCode};
use hickory_resolver::proto::rr::rdata::CNAME;
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use tokio::net::UdpSocket;
use tokio::task::JoinSet;

/// The answer for a name, this time.
pub(crate) enum Answer {
    /// These addresses; each query gets those of its family.
    Addresses(Vec<IpAddr>),
    /// Another name, and the addresses of that.
    Alias(&'static str, Vec<IpAddr>),
    /// The name does not exist.
    NoSuchName,
    /// No answer.
    Silence,
}

/// A name server that answers until it is dropped.
pub(crate) struct NameServer {
    pub(crate) address: SocketAddr,
    questions: Arc<AtomicUsize>,
    _serving: JoinSet<()>,
}

impl NameServer {
    /// Answers by name, and by the number of earlier queries for that name.
    pub(crate) async fn answering(
        answer: impl Fn(&str, usize) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a free port");
        let address = socket.local_addr().expect("a bound port");
        let questions = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&questions);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut before = HashMap::new();
            let mut datagram = [0; 4096];
            while let Ok((length, from)) = socket.recv_from(&mut datagram).await {
                counted.fetch_add(1, Ordering::SeqCst);
                let asked = Message::from_vec(&datagram[..length]).expect("a question");
                let query = asked.queries.first().expect("one question").clone();
                let name = query.name.to_ascii().trim_end_matches('.').to_lowercase();
                let count = before.entry((name.clone(), query.query_type)).or_insert(0);
                let answer = answer(&name, std::mem::replace(count, *count + 1));
                if let Some(reply) = reply(&asked, query, answer) {
                    socket.send_to(&reply, from).await.expect("somebody waits");
                }
            }
        });
        Self { address, questions, _serving: serving }
    }

    /// Returns the number of queries, of both families.
    pub(crate) fn questions(&self) -> usize {
        self.questions.load(Ordering::SeqCst)
    }
}

fn reply(asked: &Message, query: Query, answer: Answer) -> Option<Vec<u8>> {
    let mut reply = Message::response(asked.metadata.id, OpCode::Query);
    reply.metadata.recursion_desired = true;
    reply.metadata.recursion_available = true;
    match answer {
        Answer::Addresses(addresses) => {
            reply.add_answers(records(&query.name, query.query_type, &addresses));
        }
        Answer::Alias(to, addresses) => {
            let to = Name::from_ascii(format!("{to}.")).expect("a name");
            let alias = RData::CNAME(CNAME(to.clone()));
            reply.add_answer(Record::from_rdata(query.name.clone(), 0, alias));
            reply.add_answers(records(&to, query.query_type, &addresses));
        }
        Answer::NoSuchName => reply.metadata.response_code = ResponseCode::NXDomain,
        Answer::Silence => return None,
    }
    reply.add_query(query);
    Some(reply.to_vec().expect("a message"))
}

/// Returns records with a TTL of zero, so that none is cached.
fn records(name: &Name, kind: RecordType, addresses: &[IpAddr]) -> Vec<Record> {
    let of_kind = addresses.iter().filter(|address| address.is_ipv4() == (kind == RecordType::A));
    of_kind.map(|address| Record::from_rdata(name.clone(), 0, RData::from(*address))).collect()
}
